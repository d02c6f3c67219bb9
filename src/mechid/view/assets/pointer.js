// What the pointer is on: lights it up and shows its name.

import { Color, Raycaster, Vector2, Vector3 } from "three";
import { vector } from "mechid/solids";

const LIT = new Color("#ff9d00");

/** Lights items up, one choice at a time. */
export class Highlight {
  constructor(redraw) {
    this.items = [];
    this.redraw = redraw;
  }

  set(items) {
    for (const item of this.items) for (const material of item.materials) material.emissive.set(0);
    for (const item of items) {
      for (const { emissive, color } of item.materials) {
        emissive.copy(color).lerp(LIT, 0.85).multiplyScalar(0.7);
      }
    }
    this.items = items;
    this.redraw();
  }
}

export function followPointer({ canvas, tooltip, camera, items, highlight, data, frames, unit }) {
  const ray = new Raycaster();
  const [title, note] = tooltip.children;
  const objects = items.flatMap((item) => item.objects);
  ray.params.Line.threshold = 0.4 * unit;

  const visible = (object) => !object || (object.visible && visible(object.parent));

  /** Name of the point of a body next to the place that was hit. */
  const pointLabel = (item, place) => {
    if (item.body === undefined) return "";
    const { points, labels } = data.bodies[item.body];
    const local = frames[item.body].worldToLocal(place.clone());
    const gaps = points.map((point) => vector(point).distanceTo(local));
    const nearest = gaps.indexOf(Math.min(...gaps));
    return gaps[nearest] < 2.5 * unit && labels[nearest] ? ` \u00b7 ${labels[nearest]}` : "";
  };

  const hide = () => {
    tooltip.hidden = true;
    if (highlight.items.length) highlight.set([]);
  };

  canvas.addEventListener("pointerleave", hide);
  canvas.addEventListener("pointermove", (event) => {
    if (event.buttons) {
      hide();
      return;
    }
    const { left, top, width, height } = canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - left, event.clientY - top];
    ray.setFromCamera(new Vector2((2 * x) / width - 1, 1 - (2 * y) / height), camera);
    const hits = ray.intersectObjects(objects, true).filter(({ object }) => visible(object));
    if (hits.length === 0) {
      hide();
      return;
    }
    // Faces can be seen through, so a solid part behind one is what the reader points at.
    const { object, point } = hits.find((hit) => !hit.object.material.transparent) ?? hits[0];
    const { item } = object.userData;
    if (highlight.items[0] !== item || highlight.items.length > 1) highlight.set([item]);
    title.textContent = item.name;
    note.textContent = item.detail + pointLabel(item, point);
    tooltip.hidden = false;
    tooltip.style.left = `${Math.max(0, Math.min(x + 14, width - tooltip.offsetWidth - 8))}px`;
    tooltip.style.top = `${Math.max(0, Math.min(y + 16, height - tooltip.offsetHeight - 8))}px`;
  });
}

/** Page coordinates of a point of the ground frame. */
export function projected(point, camera, canvas) {
  const { left, top, width, height } = canvas.getBoundingClientRect();
  camera.updateMatrixWorld(); // the camera may have moved since the last picture
  const seen = new Vector3(...point).project(camera);
  return [left + ((seen.x + 1) / 2) * width, top + ((1 - seen.y) / 2) * height];
}
