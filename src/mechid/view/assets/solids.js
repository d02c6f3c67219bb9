// Small solids from which bodies, joints and elements are put together.

import {
  BoxGeometry,
  BufferGeometry,
  CylinderGeometry,
  Float32BufferAttribute,
  Mesh,
  MeshStandardMaterial,
  Quaternion,
  SphereGeometry,
  Vector3,
} from "three";

export const vector = ([x, y, z]) => new Vector3(x, y, z);

export const GRAPHITE = "#434d5a";

export function solid(color, options = {}) {
  return new MeshStandardMaterial({ color, roughness: 0.5, metalness: 0.08, ...options });
}

export function mesh(geometry, material, at = null) {
  const made = new Mesh(geometry, material);
  made.castShadow = !material.transparent;
  made.receiveShadow = !material.transparent;
  if (at) made.position.copy(at);
  return made;
}

export function materialsOf(group) {
  const found = new Set();
  group.traverse((node) => node.material && found.add(node.material));
  return [...found];
}

/** The rotation that turns the local y axis, along which three.js builds cylinders, to `axis`. */
export function alongAxis(axis) {
  return new Quaternion().setFromUnitVectors(new Vector3(0, 1, 0), axis.clone().normalize());
}

export function rod(from, to, radius, material, sides = 20) {
  const along = to.clone().sub(from);
  const made = mesh(new CylinderGeometry(radius, radius, along.length(), sides), material);
  made.position.copy(from).addScaledVector(along, 0.5);
  if (along.length() > 0) made.quaternion.copy(alongAxis(along));
  return made;
}

export function ball(at, radius, material) {
  return mesh(new SphereGeometry(radius, 28, 18), material, at);
}

export function box(at, [a, b, c], material) {
  return mesh(new BoxGeometry(a, b, c), material, at);
}

/** A flat polygon as a fan of triangles. */
export function polygon(corners, material) {
  const values = [];
  for (let i = 1; i + 1 < corners.length; i += 1) {
    for (const corner of [corners[0], corners[i], corners[i + 1]]) values.push(...corner.toArray());
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new Float32BufferAttribute(values, 3));
  geometry.computeVertexNormals();
  return mesh(geometry, material);
}
