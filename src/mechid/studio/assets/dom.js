// Elements from data. Text is always text: nothing here, or built on it, parses HTML.

const SVG = "http://www.w3.org/2000/svg";

/**
 * An element: `h("button", {class: "quiet", onclick: f}, "Save")`.
 *
 * Properties that begin with "on" are listeners; true and false set or leave out an attribute;
 * `value`, `checked`, `selected` and `scene` are set as properties. Children are elements, strings,
 * numbers, lists of them, or nothing.
 */
export function h(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (["value", "checked", "selected", "scene"].includes(key)) made[key] = value;
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...content(children));
  return made;
}

const content = (children) =>
  children
    .flat(Infinity)
    .filter((child) => child !== null && child !== undefined && child !== false);

/** Put other children into an element. */
export function fill(host, ...children) {
  host.replaceChildren(...content(children));
  return host;
}

/** A line drawing of 20 by 20 units; the paths are written in this program, never in data. */
export function icon(name) {
  const made = document.createElementNS(SVG, "svg");
  made.setAttribute("viewBox", "0 0 20 20");
  made.setAttribute("class", "icon");
  made.setAttribute("aria-hidden", "true");
  for (const d of ICONS[name]) {
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("d", d);
    made.append(path);
  }
  return made;
}

const ring = (x, y, r) => `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;

const ICONS = {
  model: [
    "M4.6 14 7 7.2M8.6 5.6l4.6-.6M15 6.4l1.6 7.8",
    ring(4, 15.6, 1.7),
    ring(7.2, 5.7, 1.6),
    ring(14.7, 4.8, 1.6),
    ring(16.4, 15.8, 1.6),
  ],
  measure: ["M2.5 17.5h15M2.5 2.5v15", "M5 12c1.6-6 3-6 4.3-1.5s2.8 4.5 4.2-1.8L15 5"],
  excite: ["M2 10c1.6 0 1.6-6 3.2-6s1.6 12 3.2 12 1.6-9 3.2-9 1.6 5.5 3.2 5.5 1.6-2.5 3.2-2.5"],
  identify: [ring(8.6, 8.6, 5.6), "m12.8 12.8 4.7 4.7", "M6.2 9.4 8 11l3.2-4"],
  jobs: ["M3 5.5h14M3 10h14M3 14.5h9"],
  file: ["M5 2.5h6.5L15.5 6.500V17.5H5z", "M11.5 2.500v4h4"],
  folder: ["M2.5 5h5l1.6 2h8.400v9h-15z"],
  data: ["M3 17V9M7.6 17V4M12.3 17v-6M17 17V7"],
  run: [ring(10, 10, 7), "m7 10.3 2.2 2.200L13.2 8"],
  table: ["M3 4h14v12H3z", "M3 8h14M3 12h14M8 4v12"],
  theme: [
    ring(10, 10, 3.6),
    "M10 1.800v2M10 16.200v2M1.8 10h2M16.2 10h2M4.2 4.200l1.4 1.400M14.4 14.400l1.4 1.400M4.2 15.800l1.4-1.400M14.4 5.600l1.4-1.4",
  ],
  stop: ["M5 5h10v10H5z"],
  down: ["M10 3v10M5.8 9l4.2 4.200L14.2 9M3.5 16.800h13"],
  up: ["M10 14V4M5.8 8 10 3.8 14.2 8M3.5 16.800h13"],
  plus: ["M10 4v12M4 10h12"],
  close: ["m5 5 10 10M15 5 5 15"],
  home: ["m3 9.5 7-6 7 6M5 8v8.500h10V8"],
  again: ["M16 10a6 6 0 1 1-1.8-4.300M16.3 2.800v3.400h-3.4"],
};

const minus = (text) => text.replaceAll("-", "\u2212");

/** A number with up to `digits` digits, a true minus, and powers of ten for the very small and large. */
export function number(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "\u2013";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 1e-4 || size >= 1e6) {
    const [mantissa, exponent] = value.toExponential(Math.max(digits - 2, 0)).split("e");
    const power = [...String(Number(exponent))].map((d) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(d)]);
    return `${minus(mantissa)}·10${power.join("")}`;
  }
  return minus(String(Number(value.toPrecision(digits))));
}

/** "3 bodies", "1 body". */
export const count = (n, one, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;

/** Call `action` when it was not asked for during `pause` milliseconds. */
export function later(action, pause) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...values), pause);
  };
}

/** Run `action` for the last value asked for, one at a time, without a queue of older ones. */
export function latest(action) {
  let busy = false;
  let waiting = null;
  return async function ask(...values) {
    if (busy) {
      waiting = values;
      return;
    }
    busy = true;
    try {
      await action(...values);
    } finally {
      busy = false;
      if (waiting) {
        const next = waiting;
        waiting = null;
        ask(...next);
      }
    }
  };
}
