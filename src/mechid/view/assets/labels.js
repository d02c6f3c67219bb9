// Names of points beside them in the picture, switched on and off by a button.

import { vector } from "mechid/solids";

/** Labels of all named points; those in one place on the screen are drawn once. */
export class Labels {
  constructor(host, button, data, frames, redraw) {
    this.host = host;
    this.points = data.bodies.flatMap((body, k) =>
      body.points.map((point, i) => ({ name: body.labels[i], frame: frames[k], local: vector(point) })),
    );
    this.points = this.points.filter(({ name }) => name);
    for (const point of this.points) {
      point.label = document.createElement("span");
      point.label.textContent = point.name;
      host.append(point.label);
    }
    button.hidden = this.points.length === 0;
    button.addEventListener("click", () => {
      host.hidden = !host.hidden;
      button.setAttribute("aria-pressed", String(!host.hidden));
      redraw();
    });
  }

  update(camera, canvas) {
    if (this.host.hidden) return;
    const taken = [];
    for (const { frame, local, label } of this.points) {
      const at = local.clone().applyMatrix4(frame.matrixWorld).project(camera);
      const [x, y] = [((at.x + 1) / 2) * canvas.clientWidth, ((1 - at.y) / 2) * canvas.clientHeight];
      label.hidden = at.z > 1 || taken.some(([a, b]) => Math.hypot(a - x, b - y) < 11);
      if (label.hidden) continue;
      taken.push([x, y]);
      label.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
    }
  }
}
