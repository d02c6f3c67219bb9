// Where the camera stands: named views, and the closest distance that shows the whole motion.

import { Vector3 } from "three";
import { limits } from "mechid/motion";

const MARGIN = 0.9; // share of the picture that the mechanism may fill

/** Axes of the picture: up, and forward and left in the horizontal plane. */
export function horizon(up) {
  const forward = Math.abs(up.x) < 0.9 ? new Vector3(1, 0, 0) : new Vector3(0, 1, 0);
  forward.addScaledVector(up, -forward.dot(up)).normalize();
  return { up, forward, left: up.clone().cross(forward) };
}

/** Direction from the mechanism to the camera. */
export function viewDirection(name, { up, forward, left }) {
  const mix = (f, l, u) =>
    new Vector3()
      .addScaledVector(forward, f)
      .addScaledVector(left, l)
      .addScaledVector(up, u)
      .normalize();
  if (name === "front") return mix(1, 0, 0);
  if (name === "side") return mix(0, -1, 0);
  // Straight down the picture would have no upper edge; a hair off makes it point to the left.
  if (name === "top") return mix(0, -1e-4, 1);
  return mix(0.85, -1.2, 0.75);
}

/** Move the camera along `direction` so that all points just fit below the title of the picture. */
export function fit(camera, controls, points, direction, titleShare) {
  const right = camera.up.clone().cross(direction).normalize();
  const top = direction.clone().cross(right);
  const tan = Math.tan((camera.fov * Math.PI) / 360) * MARGIN;
  // With z towards the camera at (c, d), a point is inside if x - c <= tan (d - z) and likewise
  // c - x: so only the largest x + tan z and -x + tan z count, for each side with its own tan.
  const side = (axis, tanPlus, tanMinus) => {
    const [, plus] = limits(points.map((p) => p.dot(axis) + tanPlus * p.dot(direction)));
    const [, minus] = limits(points.map((p) => -p.dot(axis) + tanMinus * p.dot(direction)));
    return {
      least: (plus + minus) / (tanPlus + tanMinus),
      center: (d) => (plus - tanPlus * d + tanMinus * d - minus) / 2,
    };
  };
  const horizontal = side(right, tan * camera.aspect, tan * camera.aspect);
  const vertical = side(top, tan * (1 - 2 * titleShare), tan);
  const [far, near] = limits(points.map((p) => p.dot(direction)));
  const middle = (far + near) / 2;
  const distance = Math.max(horizontal.least, vertical.least, near + 0.5 * (near - far));
  controls.target
    .set(0, 0, 0)
    .addScaledVector(right, horizontal.center(distance))
    .addScaledVector(top, vertical.center(distance))
    .addScaledVector(direction, middle);
  camera.position.copy(controls.target).addScaledVector(direction, distance - middle);
  controls.update();
}
