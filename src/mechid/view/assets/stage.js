// The surroundings: light, shadow and the grid under the mechanism, and the axes in the corner.

import {
  BufferGeometry,
  DirectionalLight,
  Float32BufferAttribute,
  Group,
  HemisphereLight,
  LineBasicMaterial,
  LineSegments,
  Mesh,
  PlaneGeometry,
  Quaternion,
  ShadowMaterial,
  Vector3,
} from "three";

/** The number 1, 2 or 5 times a power of ten next below `value`. */
export function roundStep(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  const lead = value / power;
  return (lead >= 5 ? 5 : lead >= 2 ? 2 : 1) * power;
}

export function addLights(scene, { up, forward, left }, center, radius) {
  const sky = new HemisphereLight("#ffffff", "#cfd6df", 1.9);
  sky.position.copy(up);
  const key = new DirectionalLight("#ffffff", 2.1);
  const from = up
    .clone()
    .multiplyScalar(2.6)
    .addScaledVector(forward, 0.7)
    .addScaledVector(left, -1.1);
  key.position.copy(center).addScaledVector(from, radius);
  key.target.position.copy(center);
  key.castShadow = true;
  key.shadow.mapSize.set(1024, 1024);
  key.shadow.radius = 3;
  key.shadow.normalBias = 0.004 * radius;
  Object.assign(key.shadow.camera, {
    left: -1.5 * radius,
    right: 1.5 * radius,
    top: 1.5 * radius,
    bottom: -1.5 * radius,
    near: 0.1 * radius,
    far: 7 * radius,
  });
  const fill = new DirectionalLight("#e6eefb", 0.7);
  fill.position.copy(up).multiplyScalar(0.5).addScaledVector(forward, -1).addScaledVector(left, 1);
  scene.add(sky, key, key.target, fill);
}

/** A grid that fades outwards, with the shadow on it. The local axes are forward, left and up. */
export function buildFloor({ up, forward, left }, center, height, radius, step) {
  const cells = Math.ceil((2.1 * radius) / step);
  const positions = [];
  const colors = [];
  const vertex = (i, j) => {
    positions.push(i * step, j * step, 0);
    const fade = Math.max(0, 1 - Math.hypot(i, j) / cells);
    colors.push(0.36, 0.43, 0.52, 0.5 * fade ** 1.3);
  };
  for (let i = -cells; i <= cells; i += 1) {
    for (let j = -cells; j < cells; j += 1) {
      vertex(i, j);
      vertex(i, j + 1);
      vertex(j, i);
      vertex(j + 1, i);
    }
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new Float32BufferAttribute(positions, 3));
  geometry.setAttribute("color", new Float32BufferAttribute(colors, 4));
  const paint = new LineBasicMaterial({ vertexColors: true, transparent: true, depthWrite: false });
  const grid = new LineSegments(geometry, paint);
  const shade = new Mesh(
    new PlaneGeometry(3.6 * radius, 3.6 * radius),
    new ShadowMaterial({ opacity: 0.13 }),
  );
  shade.receiveShadow = true;
  shade.material.depthWrite = false;

  const floor = new Group();
  floor.add(shade, grid);
  floor.renderOrder = -1;
  floor.quaternion.copy(basisRotation(forward, left, up));
  // Grid lines pass through whole multiples of the step, so that lengths can be read off.
  const snap = (axis) => Math.round(center.dot(axis) / step) * step;
  floor.position
    .copy(up)
    .multiplyScalar(height)
    .addScaledVector(forward, snap(forward))
    .addScaledVector(left, snap(left));
  return floor;
}

function basisRotation(x, y, z) {
  const turn = new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), z);
  const turned = new Vector3(1, 0, 0).applyQuaternion(turn);
  const angle = Math.atan2(turned.clone().cross(x).dot(z), turned.dot(x));
  return new Quaternion().setFromAxisAngle(z, angle).multiply(turn);
}

/** Show the directions of the ground axes in the corner, seen by the camera. */
export class Triad {
  constructor(svg) {
    this.axes = ["x", "y", "z"].map((name, i) => ({
      line: svg.querySelector(`line.${name}`),
      text: svg.querySelector(`text.${name}`),
      unit: new Vector3().setComponent(i, 1),
    }));
  }

  update(camera) {
    const inverse = camera.quaternion.clone().invert();
    for (const { line, text, unit } of this.axes) {
      const seen = unit.clone().applyQuaternion(inverse);
      line.setAttribute("x2", 30 * seen.x);
      line.setAttribute("y2", -30 * seen.y);
      text.setAttribute("x", 39 * seen.x);
      text.setAttribute("y", -39 * seen.y);
      // An axis that points at the reader has no direction in the picture: fade its letter.
      text.style.opacity = Math.hypot(seen.x, seen.y) < 0.25 ? 0.25 : 1;
    }
  }
}
