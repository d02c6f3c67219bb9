// One glyph per kind of joint, in the scene and (as a small drawing) in the legend.

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

// The parts of each glyph about the local y axis, with u the unit of length of the drawing.
const GLYPHS = {
  revolute: (u, m) => [bar(0.95 * u, 3 * u, m), ...rings(2, 2.7 * u, 0.95 * u, 0.16 * u, m)],
  prismatic: (u, m) => [box(null, [2 * u, 5 * u, 2 * u], m)],
  cylindrical: (u, m) => [bar(1.05 * u, 5.5 * u, m)],
  universal: (u, m) => [bar(0.5 * u, 3.2 * u, m), ball(new Vector3(), 0.62 * u, m)],
  spherical: (u, m) => [ball(new Vector3(), 1.15 * u, m)],
  planar: (u, m) => [bar(2.6 * u, 0.3 * u, m)],
  helical: (u, m) => [bar(0.75 * u, 5 * u, m), ...rings(5, 0.95 * u, 0.8 * u, 0.27 * u, m)],
  fixed: (u, m) => [box(null, [1.7 * u, 1.7 * u, 1.7 * u], m)],
  free: () => [],
};

const ICONS = {
  revolute: '<rect x="5" y="2" width="8" height="14" rx="1.5"/><path d="M9 0v18" class="axis"/>',
  prismatic: '<rect x="3" y="5" width="12" height="8"/><path d="M0 9h18" class="axis"/>',
  cylindrical: '<rect x="2" y="5" width="14" height="8" rx="4"/><path d="M0 9h18" class="axis"/>',
  universal:
    '<rect x="7.2" y="1.5" width="3.6" height="15" rx="1"/><rect x="1.5" y="7.2" width="15" height="3.6" rx="1"/>',
  spherical: '<circle cx="9" cy="9" r="6"/>',
  planar: '<ellipse cx="9" cy="9" rx="8" ry="3.2"/>',
  helical: '<path d="M2 12l3-6 2.5 6 3-6 2.5 6 3-6" class="line"/><path d="M0 9h18" class="axis"/>',
  fixed: '<rect x="4" y="4" width="10" height="10"/>',
  free: '<circle cx="9" cy="9" r="5.5" class="line"/>',
};

export function jointIcon(kind) {
  const holder = document.createElement("span");
  holder.className = "icon";
  holder.innerHTML = `<svg viewBox="0 0 18 18" aria-hidden="true">${ICONS[kind] ?? ICONS.free}</svg>`;
  return holder;
}

/** Draw a joint into the frames of its bodies, which must stand at the first sample. */
export function buildJoint(joint, frames, unit) {
  const material = solid(GRAPHITE, { roughness: 0.38, metalness: 0.35 });
  const part = (frame, at, axis) => {
    const glyph = new Group();
    for (const piece of (GLYPHS[joint.kind] ?? GLYPHS.free)(unit, material)) glyph.add(piece);
    glyph.position.copy(at);
    glyph.quaternion.copy(alongAxis(axis ? vector(axis) : new Vector3(0, 0, 1)));
    frame.add(glyph);
    return glyph;
  };
  const carrier = frames[joint.body];
  const at = vector(joint.point);
  const objects = [part(carrier, at, joint.axis)];
  if (joint.kind === "universal" && joint.axis2) {
    // The second bar of the cross turns with the other body, so it is hung into that frame.
    const other = frames[joint.body2];
    objects.push(part(other, other.worldToLocal(carrier.localToWorld(at.clone())), joint.axis2));
  }
  return { objects, materials: [material] };
}
