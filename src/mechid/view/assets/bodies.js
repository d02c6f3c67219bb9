// A body is drawn from its points: a rod, a framed plate or a framed hull, plus its own shapes.

import {
  Color,
  ConeGeometry,
  ConvexGeometry,
  DoubleSide,
  EdgesGeometry,
  Group,
  LatheGeometry,
  TorusGeometry,
  Vector2,
  Vector3,
} from "three";
import { alongAxis, ball, box, mesh, polygon, rod, solid, vector } from "mechid/solids";

// Okabe and Ito's colours, which colour-blind readers can tell apart, without yellow and black
// (too faint and too heavy on a light background).
const PALETTE = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00"];
const GROUND = "#7b8794";
const VEIL = { transparent: true, opacity: 0.3, depthWrite: false };

export function bodyColor(body, index) {
  if (body.color) return body.color;
  if (index === 0) return GROUND;
  const turn = Math.floor((index - 1) / PALETTE.length);
  const color = new Color(PALETTE[(index - 1) % PALETTE.length]);
  // Further rounds through the palette differ in lightness, which every reader sees.
  const shift = [0, -0.1, 0.13][turn % 3];
  return `#${color.offsetHSL(0, 0, shift).getHexString()}`;
}

export const shapesOf = (body) => [body.shape ?? []].flat();

export function buildBody(body, color, unit) {
  const group = new Group();
  const frame = solid(color);
  const face = solid(color, { ...VEIL, side: DoubleSide });
  const points = distinct(body.points.map(vector), unit);
  const shapes = shapesOf(body);
  if (points.length > 1 || shapes.length === 0) {
    for (const point of points)
      group.add(ball(point, points.length > 1 ? 0.72 * unit : unit, frame));
  }
  for (const part of span(points, unit, frame, face)) group.add(part);
  for (const shape of shapes) group.add(buildShape(shape, color, unit));
  return group;
}

/** The ground: at each point the drawing sign of a fixed pivot, a foot under the point. */
export function buildGround(body, color, unit, up) {
  const group = new Group();
  const material = solid(color, { flatShading: true });
  for (const point of distinct(body.points.map(vector), unit)) {
    const foot = new Group();
    foot.add(
      mesh(new ConeGeometry(1.25 * unit, 2.2 * unit, 4), material, new Vector3(0, -1.1 * unit, 0)),
    );
    foot.add(box(new Vector3(0, -2.35 * unit, 0), [2.9 * unit, 0.35 * unit, 2.9 * unit], material));
    foot.children[0].rotation.y = Math.PI / 4;
    foot.position.copy(point);
    foot.quaternion.copy(alongAxis(up));
    group.add(foot);
  }
  for (const shape of shapesOf(body)) group.add(buildShape(shape, color, unit));
  return group;
}

/** Points around the outside of a shape, by which the view is fitted. */
export function outline(shape) {
  if (shape.kind === "cylinder") return [vector(shape.from), vector(shape.to)];
  const center = vector(shape.center);
  const corners = [];
  for (const a of [-1, 1]) {
    for (const b of [-1, 1]) {
      for (const c of [-1, 1]) {
        if (shape.kind === "box")
          corners.push(new Vector3(a, b, c).multiply(vector(shape.size)).multiplyScalar(0.5));
        else if (shape.kind === "sphere")
          corners.push(new Vector3(a, b, c).setLength(shape.radius));
      }
    }
  }
  for (let i = 0; shape.kind === "wheel" && i < 24; i += 1) {
    const angle = (i * Math.PI) / 12;
    for (const side of [-0.5, 0.5]) {
      const rim = new Vector3(Math.cos(angle), 0, Math.sin(angle)).multiplyScalar(shape.radius);
      rim.y = side * shape.width;
      corners.push(rim.applyQuaternion(alongAxis(vector(shape.axis))));
    }
  }
  return corners.map((corner) => corner.add(center));
}

function distinct(points, unit) {
  const kept = [];
  for (const point of points) {
    if (kept.every((other) => other.distanceTo(point) > 1e-3 * unit)) kept.push(point);
  }
  return kept;
}

/** The meshes between the points: along the line, around the plane polygon or around the hull. */
function span(points, unit, frame, face) {
  const radius = 0.5 * unit;
  const ring = (corners) =>
    corners.map((corner, i) => rod(corner, corners[(i + 1) % corners.length], radius, frame));
  if (points.length < 2) return [];
  const flat = planeOf(points, unit);
  if (flat.rank === 1) return [rod(flat.ends[0], flat.ends[1], radius, frame)];
  if (flat.rank === 2) {
    const corners = planeHull(points, flat);
    return [...ring(corners), polygon(corners, face)];
  }
  const hull = new ConvexGeometry(points);
  const edges = new EdgesGeometry(hull, 2).getAttribute("position");
  const parts = [mesh(hull, face)];
  for (let i = 0; i < edges.count; i += 2) {
    const ends = [i, i + 1].map((k) => new Vector3().fromBufferAttribute(edges, k));
    parts.push(rod(ends[0], ends[1], radius, frame));
  }
  return parts;
}

/** How many dimensions the points fill, with their farthest pair and the plane through them. */
function planeOf(points, unit) {
  let ends = [points[0], points[1]];
  for (const a of points) {
    for (const b of points) if (a.distanceTo(b) > ends[0].distanceTo(ends[1])) ends = [a, b];
  }
  const x = ends[1].clone().sub(ends[0]).normalize();
  const across = (point) => {
    const offset = point.clone().sub(ends[0]);
    return offset.addScaledVector(x, -offset.dot(x));
  };
  const y = points.map(across).reduce((best, v) => (v.length() > best.length() ? v : best));
  if (y.length() < 0.25 * unit) return { rank: 1, ends };
  y.normalize();
  const normal = x.clone().cross(y);
  const height = Math.max(
    ...points.map((point) => Math.abs(point.clone().sub(ends[0]).dot(normal))),
  );
  return { rank: height < 0.25 * unit ? 2 : 3, ends, x, y };
}

/** Corners of the convex hull of points in one plane (Andrew's monotone chain). */
function planeHull(points, { x, y }) {
  const sorted = points
    .map((point) => ({ point, u: point.dot(x), v: point.dot(y) }))
    .sort((a, b) => a.u - b.u || a.v - b.v);
  const turn = (o, a, b) => (a.u - o.u) * (b.v - o.v) - (a.v - o.v) * (b.u - o.u);
  const half = (list) => {
    const chain = [];
    for (const p of list) {
      while (chain.length > 1 && turn(chain.at(-2), chain.at(-1), p) <= 0) chain.pop();
      chain.push(p);
    }
    return chain.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.reverse())].map(({ point }) => point);
}

function buildShape(shape, color, unit) {
  const material = solid(color);
  if (shape.kind === "wheel") return buildWheel(shape, color, unit);
  if (shape.kind === "box") {
    // A box as large as the mechanism, a chassis, must not hide what is inside it.
    const large = Math.hypot(...shape.size) > 40 * unit;
    return box(vector(shape.center), shape.size, large ? solid(color, VEIL) : material);
  }
  if (shape.kind === "sphere") return ball(vector(shape.center), shape.radius, material);
  if (shape.kind === "cylinder")
    return rod(vector(shape.from), vector(shape.to), shape.radius, material, 40);
  throw new Error(`unknown shape: ${shape.kind}`);
}

/** Tyre, rim and spokes; the tyre is translucent so that it does not hide what carries it. */
function buildWheel({ center, axis, radius, width }, color, unit) {
  const wheel = new Group();
  const h = width / 2;
  const inner = 0.68 * radius;
  const shoulder = Math.min(0.35 * width, 0.12 * radius);
  const arc = (cx, cy, start) =>
    [0, 1, 2, 3, 4].map((i) => {
      const angle = start + (i * Math.PI) / 8;
      return new Vector2(cx + shoulder * Math.cos(angle), cy + shoulder * Math.sin(angle));
    });
  const profile = [
    new Vector2(inner, -0.8 * h),
    new Vector2(inner + 0.3 * (radius - inner), -h),
    ...arc(radius - shoulder, shoulder - h, -Math.PI / 2),
    ...arc(radius - shoulder, h - shoulder, 0),
    new Vector2(inner + 0.3 * (radius - inner), h),
    new Vector2(inner, 0.8 * h),
    new Vector2(inner, -0.8 * h),
  ];
  const rubber = solid("#2d3440", {
    transparent: true,
    opacity: 0.42,
    roughness: 0.85,
    depthWrite: false,
  });
  const tyre = mesh(new LatheGeometry(profile, 72), rubber);
  tyre.castShadow = true;
  wheel.add(tyre);
  const metal = solid(color, { transparent: true, opacity: 0.85 });
  const dark = solid("#2d3440", { transparent: true, opacity: 0.55 });
  const ring = (r, y, wire, material) => {
    const made = mesh(new TorusGeometry(r, wire, 10, 96), material);
    made.rotation.x = Math.PI / 2;
    made.position.y = y;
    wheel.add(made);
  };
  for (const side of [-1, 0, 1]) ring(inner, 0.8 * side * h, 0.018 * radius, metal);
  for (const side of [-1, 1]) {
    ring(radius - 0.3 * shoulder, side * (h - 0.3 * shoulder), 0.006 * radius, dark);
  }
  for (let i = 0; i < 5; i += 1) {
    const angle = (2 * Math.PI * i) / 5;
    const tip = new Vector3(Math.cos(angle) * inner, 0, Math.sin(angle) * inner);
    wheel.add(
      rod(tip.clone().multiplyScalar(0.12), tip, Math.min(0.02 * radius, 0.6 * unit), metal),
    );
  }
  wheel.add(rod(new Vector3(0, -0.3 * h, 0), new Vector3(0, 0.3 * h, 0), 0.12 * radius, metal, 32));
  wheel.position.copy(vector(center));
  wheel.quaternion.copy(alongAxis(vector(axis)));
  return wheel;
}
