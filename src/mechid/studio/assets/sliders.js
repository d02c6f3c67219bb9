// Sliders on the independent coordinates. Below each lies a strip of the whole range: dark where the
// mechanism is near a singular pose, hatched where it cannot go. A pose that cannot be reached
// leaves the mechanism at the last one on the way.

import { post } from "./api.js";
import { fill, h, icon, latest, number } from "./dom.js";

const NEAR = 0.25; // of the margin at home: below this a pose counts as near a singular one
const SHOWN = { rad: [180 / Math.PI, "°"], m: [1000, "mm"] };

export class Sliders {
  constructor(mechanism) {
    this.mechanism = mechanism;
    this.list = h("div", { class: "slider-list" });
    this.meter = h("div", { class: "margin", role: "status" });
    this.host = h("div", { class: "sliders" });
    this.rows = [];
    this.ask = latest(() => this.solve());
  }

  async show({ coordinates, margin }, of) {
    const names = coordinates.map((c) => [c.name, c.unit, c.from, c.to, c.home]).join();
    const kept = names === this.names ? this.values() : {};
    this.names = names;
    this.of = of;
    this.home = margin;
    this.q = null;
    this.rows = coordinates.filter((c) => !c.held).map((c) => this.row(c, kept[c.name] ?? c.home));
    fill(
      this.list,
      this.rows.map(({ element }) => element),
    );
    const reset = h(
      "button",
      {
        class: "bare",
        type: "button",
        "aria-label": "Home pose",
        title: "Home pose",
        onclick: () => this.reset(),
      },
      icon("home"),
    );
    fill(this.host, this.list, h("div", { class: "foot" }, this.meter, reset));
    this.host.hidden = this.rows.length === 0;
    this.tellMargin(margin, [], true);
    if (Object.keys(kept).length) this.ask();
    try {
      const { coordinates: swept } = await post("model/sweep", of);
      if (of === this.of) swept.forEach((sweep) => this.strip(sweep));
    } catch {
      // The strip is a help; sliders work without it.
    }
  }

  values() {
    return Object.fromEntries(this.rows.map(({ name, value }) => [name, value()]));
  }

  row({ name, unit, home, from, to, low, high }, value) {
    const [scale, shown] = SHOWN[unit] ?? [1, unit];
    const step = (scale * (to - from)) / 400;
    const text = (v) => number(Math.abs(v) < step / 2 ? 0 : v, 4);
    const range = h("input", {
      type: "range",
      min: scale * from,
      max: scale * to,
      step: "any",
      value: String(scale * value),
      "aria-label": `${name}, ${shown}`,
    });
    const out = h("output", {}, `${text(scale * value)} ${shown}`);
    const strip = h("div", { class: "strip", "aria-hidden": "true" });
    range.addEventListener("input", () => {
      out.textContent = `${text(Number(range.value))} ${shown}`;
      this.ask();
    });
    // Arrow keys go in steps of a hundredth of the range, with the shift key in tenths of that.
    range.addEventListener("keydown", (event) => {
      const way = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
      if (!way) return;
      event.preventDefault();
      range.value = String(Number(range.value) + way * step * (event.shiftKey ? 0.4 : 4));
      range.dispatchEvent(new Event("input"));
    });
    const ends = [low, high].map((v) => (v === null || v === undefined ? "" : text(scale * v)));
    const limits = ends.some(Boolean)
      ? `limits ${ends[0] || "\u2013"} to ${ends[1] || "\u2013"} ${shown}`
      : "no limits";
    const element = h(
      "div",
      { class: "slider" },
      h("label", {}, h("b", {}, name), out),
      range,
      strip,
      h("small", {}, limits),
    );
    return {
      name,
      element,
      range,
      strip,
      from,
      to,
      low,
      high,
      value: () => Number(range.value) / scale,
      set: (v) => (
        (range.value = String(scale * v)),
        (out.textContent = `${text(scale * v)} ${shown}`)
      ),
      home,
    };
  }

  reset() {
    this.q = null;
    for (const row of this.rows) row.set(row.home);
    this.ask();
  }

  async solve() {
    const { of } = this;
    try {
      const found = await post("model/pose", { ...of, coordinates: this.values(), from: this.q });
      if (of !== this.of) return;
      this.q = found.q;
      this.mechanism.pose(found.poses);
      this.tellMargin(found.margin, found.limits, found.reached, found.trouble);
    } catch (error) {
      fill(this.meter, h("span", { class: "chip bad" }, error.what));
    }
  }

  /** How far from a singular pose, as a share of what it is at home, and what is violated. */
  tellMargin(margin, limits, reached, trouble) {
    const share = this.home > 0 ? margin / this.home : 0;
    const near = share < NEAR;
    const bar = h("span", { class: near ? "bar low" : "bar" }, h("span", {}));
    bar.style.setProperty("--share", `${Math.min(100 * share, 100)}%`);
    fill(
      this.meter,
      h(
        "span",
        { class: "row" },
        "Distance from singular poses",
        bar,
        h("b", {}, `${Math.round(100 * share)} %`),
        "of home",
      ),
      reached
        ? null
        : h("span", { class: "chip bad", title: trouble?.what ?? "" }, "cannot be reached"),
      near && reached ? h("span", { class: "chip warn" }, "near a singular pose") : null,
      limits.map((text) => h("span", { class: "chip warn" }, text)),
    );
  }

  /** Colours of the strip: by the margin along the range of one coordinate, others at home. */
  strip({ name, values, margin, low, high }) {
    const row = this.rows.find((r) => r.name === name);
    if (!row || values.length < 2) return;
    const place = (v) => (100 * (v - low)) / (high - low);
    const paint = margin.map((m, i) => {
      const share = Math.min(Math.max(m / this.home, 0), 1);
      const strength = Math.round(100 * Math.max(0, 1 - share / (2 * NEAR)));
      return `color-mix(in srgb, var(--bad) ${strength}%, var(--line)) ${place(values[i]).toFixed(2)}%`;
    });
    const [first, last] = [place(values[0]), place(values.at(-1))];
    row.strip.style.background = `linear-gradient(90deg, ${paint.join(", ")})`;
    const gap = (from, to) => {
      const made = h("span", { class: "beyond" });
      made.style.left = `${from}%`;
      made.style.width = `${to - from}%`;
      return made;
    };
    fill(row.strip, first > 0.5 ? gap(0, first) : null, last < 99.5 ? gap(last, 100) : null);
  }
}
