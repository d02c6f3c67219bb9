// Joints in the scene and (as a small drawing) in the legend, as their kinds say.

import { Group, TorusGeometry, Vector3 } from "three";
import { alongAxis, ball, box, GRAPHITE, mesh, rod, solid, vector } from "mechid/solids";

const Y = new Vector3(0, 1, 0);

/** A round bar along the local y axis, centred at the origin. */
function bar(radius, length, material) {
  return rod(
    Y.clone().multiplyScalar(-length / 2),
    Y.clone().multiplyScalar(length / 2),
    radius,
    material,
    32,
  );
}

function rings(count, pitch, radius, wire, material) {
  return Array.from({ length: count }, (_, i) => {
    const ring = mesh(new TorusGeometry(radius, wire, 10, 36), material);
    ring.rotation.x = Math.PI / 2;
    ring.position.y = (i - (count - 1) / 2) * pitch;
    return ring;
  });
}

// Parts about the local y axis; sizes are in units u of the drawing (mechanism/joint_kinds.py).
const PIECES = {
  bar: (u, m, radius, length) => [bar(radius * u, length * u, m)],
  ball: (u, m, radius) => [ball(new Vector3(), radius * u, m)],
  box: (u, m, ...sizes) => [
    box(
      null,
      sizes.map((size) => size * u),
      m,
    ),
  ],
  rings: (u, m, count, pitch, radius, wire) => rings(count, pitch * u, radius * u, wire * u, m),
};

export function jointIcon(icon) {
  const holder = document.createElement("span");
  holder.className = "icon";
  holder.innerHTML = `<svg viewBox="0 0 18 18" aria-hidden="true">${icon ?? ""}</svg>`;
  return holder;
}

/** Draw a joint into the frames of its bodies, which must stand at the first sample. */
export function buildJoint(joint, frames, unit) {
  const material = solid(GRAPHITE, { roughness: 0.38, metalness: 0.35 });
  const part = (frame, at, axis) => {
    const glyph = new Group();
    for (const [piece, ...sizes] of joint.glyph ?? [])
      glyph.add(...PIECES[piece](unit, material, ...sizes));
    glyph.position.copy(at);
    glyph.quaternion.copy(alongAxis(axis ? vector(axis) : new Vector3(0, 0, 1)));
    frame.add(glyph);
    return glyph;
  };
  const carrier = frames[joint.body];
  const at = vector(joint.point);
  const objects = [part(carrier, at, joint.axis)];
  if (joint.axis2) {
    // The second bar of the cross turns with the other body, so it is hung into that frame.
    const other = frames[joint.body2];
    objects.push(part(other, other.worldToLocal(carrier.localToWorld(at.clone())), joint.axis2));
  }
  return { objects, materials: [material] };
}
