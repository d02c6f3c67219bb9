// Springs, dampers, rods and loads between two moving points; each has an `update` for every picture.

import { CatmullRomCurve3, ConeGeometry, Group, TorusGeometry, TubeGeometry, Vector3 } from "three";
import { alongAxis, ball, materialsOf, mesh, rod, solid, vector } from "mechid/solids";

const STEEL = "#8b97a5";
const POT = "#434d5a";
const LOAD = "#b3123a";
const ARROW = 12; // length of an arrow that stands for a vector, in units of the drawing
const ORIGIN = new Vector3();
const along = (length) => new Vector3(0, length, 0);

/** A coil along y, from the origin to `length`. */
function coil(radius, wire, turns, length, material) {
  const points = [];
  const steps = turns * 16;
  for (let i = 0; i <= steps; i += 1) {
    const share = i / steps;
    const angle = 2 * Math.PI * turns * share;
    points.push(new Vector3(radius * Math.cos(angle), length * share, radius * Math.sin(angle)));
  }
  return mesh(new TubeGeometry(new CatmullRomCurve3(points), steps * 2, wire, 8), material);
}

/** A spring as long as the element, with the end plates that carry it. */
function spring(unit, length, material) {
  const radius = 2.1 * unit;
  const turns = Math.min(Math.max(Math.round((0.6 * length) / (1.6 * unit)), 4), 12);
  const wound = coil(radius, 0.32 * unit, turns, 0.6 * length, material);
  const plates = [0, 1].map(() =>
    rod(along(-0.15 * unit), along(0.15 * unit), radius + 0.4 * unit, material, 36),
  );
  const stem = [0, 1].map(() => rod(ORIGIN, along(1), 0.35 * unit, material));
  const place = (now) => {
    const [low, high] = [0.2 * now, 0.8 * now];
    wound.position.y = low;
    wound.scale.y = (high - low) / (0.6 * length);
    plates[0].position.y = low;
    plates[1].position.y = high;
    stem.forEach((bar, i) => {
      bar.scale.y = 0.2 * now;
      bar.position.y = (i === 0 ? 0.1 : 0.9) * now;
    });
  };
  return { parts: [wound, ...plates, ...stem], place };
}

/** A pot fixed to the first point and a rod that slides into it from the second point. */
function damper(unit, shortest) {
  const material = solid(POT, { metalness: 0.3 });
  const pot = 0.58 * shortest;
  const body = rod(along(0.08 * pot), along(pot), 1.15 * unit, material, 32);
  const eye = rod(ORIGIN, along(0.1 * pot), 0.5 * unit, material);
  const slide = rod(
    ORIGIN,
    along(1),
    0.42 * unit,
    solid("#aab4c0", { roughness: 0.25, metalness: 0.6 }),
  );
  const place = (now) => {
    slide.scale.y = Math.max(now - 0.9 * pot, 1e-6);
    slide.position.y = 0.9 * pot + slide.scale.y / 2;
  };
  return { parts: [body, eye, slide], place };
}

/** A bar from one point to the other, with a ball at each end. */
function bar(unit, material) {
  const shaft = rod(ORIGIN, along(1), 0.55 * unit, material);
  const ends = [0, 1].map(() => ball(ORIGIN, 0.95 * unit, material));
  const place = (now) => {
    shaft.scale.y = now;
    shaft.position.y = now / 2;
    ends[1].position.y = now;
  };
  return { parts: [shaft, ...ends], place };
}

/** A straight arrow whose tip is at the second point. */
function arrow(unit, material) {
  const shaft = rod(ORIGIN, along(1), 0.45 * unit, material);
  const head = mesh(new ConeGeometry(1.3 * unit, 3 * unit, 28), material);
  const place = (now) => {
    shaft.scale.y = Math.max(now - 3 * unit, 1e-6);
    shaft.position.y = shaft.scale.y / 2;
    head.position.y = now - 1.5 * unit;
  };
  return { parts: [shaft, head], place };
}

/** A round arrow, or a flat spiral for a torsion spring, about the local y axis. */
function turning(kind, unit, material) {
  const radius = 2.8 * unit;
  if (kind === "torsion") {
    const points = Array.from({ length: 97 }, (_, i) => {
      const angle = (i / 96) * 6 * Math.PI;
      const r = radius * (0.4 + (0.6 * i) / 96);
      return new Vector3(r * Math.cos(angle), 0, r * Math.sin(angle));
    });
    return [mesh(new TubeGeometry(new CatmullRomCurve3(points), 192, 0.22 * unit, 8), material)];
  }
  const sweep = 1.5 * Math.PI;
  const bow = mesh(new TorusGeometry(radius, 0.35 * unit, 10, 60, sweep), material);
  bow.rotation.x = -Math.PI / 2;
  const head = mesh(new ConeGeometry(1.1 * unit, 2.4 * unit, 24), material);
  head.position.set(radius * Math.cos(sweep), 0, -radius * Math.sin(sweep));
  head.quaternion.copy(alongAxis(new Vector3(-Math.sin(sweep), 0, -Math.cos(sweep))));
  return [bow, head];
}

export function buildElement(element, { frames, motion, unit, up, joints }) {
  const group = new Group();
  const isLoad = element.kind === "force" || element.kind === "moment";
  const material = solid(isLoad ? LOAD : STEEL, { metalness: isLoad ? 0.05 : 0.3 });
  const end = (body, point) => frames[body].localToWorld(vector(point));
  const from = () => end(element.body_a, element.point_a);
  const to = () => end(element.body_b, element.point_b);
  const lengths = motion
    .samples(200)
    .map((i) =>
      motion
        .place(i, element.body_a, element.point_a)
        .distanceTo(motion.place(i, element.body_b, element.point_b)),
    );
  const shortest = Math.min(...lengths);
  const models = [];
  if (element.kind === "moment" || element.kind === "torsion") {
    for (const part of turning(element.kind, unit, material)) group.add(part);
  } else if (element.kind === "force") {
    models.push(arrow(unit, material));
  } else if (element.kind === "rod") {
    models.push(bar(unit, material));
  } else {
    if (element.kind !== "damper") models.push(spring(unit, lengths[0] || unit, material));
    if (element.kind !== "spring") models.push(damper(unit, shortest));
  }
  for (const model of models) for (const part of model.parts) group.add(part);

  const update = () => {
    const tail = from();
    const axis = to().sub(tail);
    if (element.vector) {
      axis.copy(vector(element.vector)).applyQuaternion(frames[element.axes].quaternion);
      axis.setLength(ARROW * unit);
      if (models.length > 0) tail.sub(axis);
    } else if (models.length === 0) {
      axis.copy(turningAxis(element, frames, joints));
    } else if (axis.length() < 1e-3 * unit) {
      // Both ends coincide (a load against the ground at its own point): show it from above.
      axis.copy(up).multiplyScalar(-ARROW * unit);
      tail.sub(axis);
    }
    for (const model of models) model.place(axis.length());
    group.position.copy(tail);
    group.quaternion.copy(alongAxis(axis));
  };
  return { objects: [group], materials: materialsOf(group), update };
}

/** The axis of the joint at the same place, because the element itself does not carry one. */
function turningAxis(element, frames, joints) {
  const near = joints
    .filter((joint) => joint.axis && [element.body_a, element.body_b].includes(joint.body))
    .map((joint) => ({
      joint,
      gap: frames[joint.body]
        .localToWorld(vector(joint.point))
        .distanceTo(frames[element.body_a].localToWorld(vector(element.point_a))),
    }))
    .sort((a, b) => a.gap - b.gap)[0];
  if (!near) return new Vector3(0, 0, 1);
  return vector(near.joint.axis).applyQuaternion(frames[near.joint.body].quaternion);
}
