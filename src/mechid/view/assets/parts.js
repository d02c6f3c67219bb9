// Everything that is drawn of the mechanism, as items that the legend and the pointer work with.
//
// An item is {name, detail, kind or body, objects, materials, update}: the objects in the scene,
// the materials that light up, and what to do before each picture (if anything).

import { BufferGeometry, Line, LineBasicMaterial, Vector3 } from "three";
import { bodyColor, buildBody, buildGround, outline, shapesOf } from "mechid/bodies";
import { buildElement } from "mechid/elements";
import { buildJoint } from "mechid/joints";
import { limits } from "mechid/motion";
import { ball, materialsOf, solid, vector } from "mechid/solids";

const ELEMENT_NAMES = { spring_damper: "spring and damper", torsion: "torsion spring" };

export const elementName = (kind) => ELEMENT_NAMES[kind] ?? kind;

export function buildParts(data, { world, frames, motion, unit, up }) {
  const colors = data.bodies.map(bodyColor);

  const bodies = data.bodies.map((body, k) => {
    const build = k === 0 ? buildGround : buildBody;
    const group = build(body, colors[k], unit, up);
    frames[k].add(group);
    return {
      name: body.name,
      detail: "body",
      body: k,
      color: colors[k],
      objects: [group],
      materials: materialsOf(group),
    };
  });

  const joints = data.joints.map((joint) => ({
    name: joint.name,
    detail: `${joint.kind} joint, ${joint.bodies.join(" \u2013 ")}`,
    kind: joint.kind,
    icon: joint.icon,
    ...buildJoint(joint, frames, unit),
  }));

  const elements = data.elements.map((element) => {
    const built = buildElement(element, { frames, motion, unit, up, joints: data.joints });
    world.add(...built.objects);
    const color = `#${built.materials[0].color.getHexString()}`;
    return {
      name: element.name,
      detail: elementName(element.kind),
      kind: element.kind,
      color,
      ...built,
    };
  });

  const traces = motion.moves ? data.traces : [];
  const paths = traces.map((trace) => {
    const color = colors[trace.body];
    const places = motion.samples(4000).map((i) => motion.place(i, trace.body, trace.point));
    const line = new Line(
      new BufferGeometry().setFromPoints(places),
      new LineBasicMaterial({ color }),
    );
    const dot = ball(vector(trace.point), 0.5 * unit, solid(color));
    world.add(line);
    frames[trace.body].add(dot);
    return {
      name: trace.name,
      detail: `path, point of ${data.bodies[trace.body].name}`,
      color,
      objects: [line, dot],
      materials: [dot.material],
    };
  });

  const items = [...bodies, ...joints, ...elements, ...paths];
  for (const item of items) {
    for (const object of item.objects) object.traverse((node) => (node.userData.item = item));
  }
  return { bodies, joints, elements, paths, items };
}

/** The room that the mechanism takes during its whole motion. */
export function extentOf(data, motion, axes, unit) {
  const points = [];
  for (const i of motion.samples(60)) {
    data.bodies.forEach((body, k) => {
      const shapes = shapesOf(body).flatMap(outline);
      const local = [...body.points, ...shapes.map((point) => point.toArray())];
      for (const point of local) points.push(motion.place(i, k, point));
    });
    for (const { body_a, point_a, body_b, point_b } of data.elements) {
      points.push(motion.place(i, body_a, point_a), motion.place(i, body_b, point_b));
    }
  }
  // The feet under the ground points must stand above the grid too.
  for (const point of data.bodies[0].points) {
    points.push(vector(point).addScaledVector(axes.up, -2.6 * unit));
  }
  if (points.length === 0) points.push(new Vector3());
  const center = new Vector3();
  for (const axis of [axes.forward, axes.left, axes.up]) {
    const [low, high] = limits(points.map((point) => point.dot(axis)));
    center.addScaledVector(axis, (low + high) / 2);
  }
  const [lowest] = limits(points.map((point) => point.dot(axes.up)));
  const [, reach] = limits(points.map((point) => point.distanceTo(center)));
  return { points, center, lowest, radius: Math.max(reach, 4 * unit) };
}
