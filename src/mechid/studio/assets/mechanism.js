// The moving picture: the viewer of `mechid view` in a frame. A new scene is drawn in a second frame,
// which takes the place of the first when its picture stands; the camera stays where it was.

import { h } from "./dom.js";
import { on } from "./store.js";

/** The page in the frame follows the system; a scheme that was chosen here counts there too. */
function dress(page) {
  const chosen = document.documentElement.dataset.theme;
  if (!chosen) return;
  page.documentElement.style.colorScheme = chosen;
  for (const rule of page.styleSheets[0].cssRules)
    if (rule.media && (rule.scheme ||= rule.media.mediaText.includes("prefers-color-scheme")))
      rule.media.mediaText = chosen === "dark" ? "(min-width: 0)" : "(max-width: 0)";
}

export class Mechanism {
  constructor() {
    this.host = h("div", { class: "mechanism" }, h("p", { class: "soft" }, "No picture yet."));
    this.frame = null;
    this.text = "";
    this.forget = on("theme", () => this.frame && dress(this.frame.contentDocument));
  }

  get viewer() {
    return this.frame?.contentWindow?.mechid;
  }

  /** Show a scene; the same one again changes nothing. */
  show(scene) {
    const text = JSON.stringify(scene);
    if (text === this.text) return;
    const same = this.frame && this.size === scene.size;
    const view = same && this.viewer?.ready ? this.viewer.view() : null;
    this.text = text;
    this.size = scene.size;
    const frame = h("iframe", {
      title: "Mechanism, three-dimensional picture",
      src: "/viewer",
      scene,
    });
    frame.className = "coming";
    frame.addEventListener("load", () => this.arrived(frame, view));
    this.coming?.remove();
    this.coming = frame;
    this.host.append(frame);
  }

  arrived(frame, view) {
    if (frame !== this.coming) return;
    const viewer = frame.contentWindow.mechid;
    if (viewer === undefined) {
      setTimeout(() => this.arrived(frame, view), 30); // its modules are still on their way
      return;
    }
    dress(frame.contentDocument);
    if (view && viewer.ready) viewer.look(view);
    if (this.waiting) viewer.pose?.(this.waiting);
    frame.className = "";
    // A frame that is moved loads again, so the others go and it stays where it is.
    for (const other of [...this.host.children]) if (other !== frame) other.remove();
    this.frame = frame;
    this.coming = null;
  }

  pose(poses) {
    this.waiting = poses;
    if (!this.coming) this.viewer?.pose?.(poses);
  }

  close() {
    this.forget();
    this.host.replaceChildren();
  }
}
