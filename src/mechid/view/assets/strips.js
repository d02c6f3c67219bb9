// Small plots of the independent coordinates against time, with a cursor at the present time.

import { limits } from "mechid/motion";

const SVG = "http://www.w3.org/2000/svg";

function create(tag, className, text = "") {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}

function draw(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

const minus = (text) => text.replaceAll("-", "\u2212");

/** What is nothing but rounding on this scale is zero. */
const settled = (value, scale) => (Math.abs(value) < 1e-9 * scale ? 0 : value);

/** A number with four digits, always as many, so that a running value does not jitter. */
function number(value) {
  const size = Math.abs(value);
  return minus(
    size >= 1e5 || (size < 1e-3 && size > 0) ? value.toExponential(3) : value.toPrecision(4),
  );
}

/** A number with up to three digits, for the ends of an axis. */
function short(value) {
  return minus(String(Number(value.toPrecision(3))));
}

/** Value of a coordinate between its samples. */
function between(values, motion, t) {
  const i = motion.index(t);
  const j = Math.min(i + 1, values.length - 1);
  const span = motion.time[j] - motion.time[i];
  const share = span > 0 ? Math.min((t - motion.time[i]) / span, 1) : 0;
  return values[i] + share * (values[j] - values[i]);
}

export class Strips {
  constructor(host, coordinates, motion, seek) {
    this.motion = motion;
    this.strips = coordinates.map((coordinate) => this.add(host, coordinate, seek));
  }

  add(host, { name, unit, values }, seek) {
    const { start, end, time } = this.motion;
    const strip = create("figure", "strip");
    const head = create("figcaption", "");
    const value = create("span", "value");
    head.append(create("span", "name", name), value, create("span", "unit", unit));
    strip.append(head);
    host.append(strip);
    const [low, high] = limits(values);
    if (!this.motion.moves) return { values, value, scale: 0 };

    // A coordinate that stands still gets a line in the middle of its strip.
    const range = high - low || 1;
    const base = high > low ? low : low - 0.5;
    const x = (t) => (100 * (t - start)) / (end - start);
    const y = (v) => 92 - (84 * (v - base)) / range;
    const places = this.motion
      .samples(2000)
      .map((i) => `${x(time[i]).toFixed(3)} ${y(values[i]).toFixed(3)}`);
    const plot = draw("svg", {
      viewBox: "0 0 100 100",
      preserveAspectRatio: "none",
      "aria-hidden": "true",
    });
    if (low < 0 && high > 0)
      plot.append(draw("line", { x1: 0, x2: 100, y1: y(0), y2: y(0), class: "zero" }));
    plot.append(draw("path", { d: `M${places.join("L")}`, class: "curve" }));
    const cursor = draw("line", { x1: 0, x2: 0, y1: 0, y2: 100, class: "cursor" });
    plot.append(cursor);
    const area = create("div", "plot");
    area.append(
      plot,
      create("span", "from", short(start)),
      create("span", "to", `${short(end)} s`),
    );
    if (high > low)
      area.append(
        create("span", "high", short(settled(high, range))),
        create("span", "low", short(settled(low, range))),
      );
    strip.append(area);

    const follow = (event) => {
      const { left, width } = area.getBoundingClientRect();
      const share = Math.min(Math.max((event.clientX - left) / width, 0), 1);
      seek(start + share * (end - start));
    };
    area.addEventListener("pointerdown", (event) => {
      area.setPointerCapture(event.pointerId);
      follow(event);
    });
    area.addEventListener("pointermove", (event) => event.buttons && follow(event));
    return { values, value, cursor, x, scale: high - low };
  }

  update(t) {
    for (const { values, value, cursor, x, scale } of this.strips) {
      value.textContent = number(settled(between(values, this.motion, t), scale));
      if (cursor) cursor.setAttribute("transform", `translate(${x(t).toFixed(3)} 0)`);
    }
  }
}
