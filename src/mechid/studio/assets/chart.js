// Curves against time, with uPlot: drag to zoom, double-click to see everything.

import { h, number } from "./dom.js";
import { on } from "./store.js";

const COLORS = ["--accent", "--warn", "--good", "--bad", "--soft"];
const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// A custom property keeps light-dark() as it is written; a canvas needs the colour that it means.
const probe = document.createElement("i");
function paint(name) {
  if (!probe.isConnected) {
    probe.hidden = true;
    document.body.append(probe);
  }
  probe.style.color = color(name);
  return getComputedStyle(probe).color;
}

function axis(label, size) {
  return {
    stroke: () => paint("--soft"),
    grid: { stroke: () => paint("--grid"), width: 1 },
    ticks: { stroke: () => paint("--line"), width: 1, size: 4 },
    font: "11px system-ui, sans-serif",
    labelFont: "11px system-ui, sans-serif",
    values: (_, values) => values.map((v) => (v === null ? "" : number(v))),
    ...(label ? { label, labelSize: 18, labelGap: -4 } : {}),
    size,
  };
}

/**
 * A chart: `{x: {name, unit, values}, series: [{name, values, dash}], height, log, steps}`.
 *
 * The element has `.set(x, [values])` for other data.
 */
export function chart({ x, series, height = 150, log = false, steps = false, legend = true }) {
  const host = h("figure", { class: "chart" });
  const options = {
    width: 300,
    height,
    padding: [8, 12, 0, 0],
    scales: { x: { time: false }, y: log ? { distr: 3 } : {} },
    legend: {
      show: legend,
      markers: {
        width: 0,
        fill: (_, k) => (k ? `var(${COLORS[(k - 1) % COLORS.length]})` : "transparent"),
      },
    },
    series: [
      { label: x.name, value: (_, v) => (v === null ? "" : `${number(v)} ${x.unit}`) },
      ...series.map(({ name, dash }, k) => ({
        label: name,
        stroke: () => paint(COLORS[k % COLORS.length]),
        width: 1.5,
        dash,
        paths: steps ? window.uPlot.paths.stepped({ align: 1 }) : undefined,
        points: { show: steps },
        value: (_, v) => number(v),
      })),
    ],
    axes: [
      { ...axis(`${x.name}, ${x.unit}`, 30), space: 60 },
      { ...axis(null, 58), space: 22, gap: 4 },
    ],
    cursor: { drag: { x: true, y: false, uni: 12 }, points: { size: 5 }, y: false },
  };
  const plot = new window.uPlot(options, [x.values, ...series.map((s) => s.values)], host);
  const forget = on("theme", () => (host.isConnected ? plot.redraw(false, true) : forget()));
  new ResizeObserver(() => {
    const width = Math.max(host.clientWidth, 120);
    if (width !== plot.width) plot.setSize({ width, height });
  }).observe(host);
  host.set = (values, curves) => plot.setData([values, ...curves]);
  return host;
}

/** A small curve without axes, for a row of a table; `values` may have gaps. */
export function sparkline(values) {
  const SVG = "http://www.w3.org/2000/svg";
  const found = values.filter((v) => v !== null && Number.isFinite(v));
  const [low, high] = [Math.min(...found), Math.max(...found)];
  const y = (v) => (high > low ? 22 - (20 * (v - low)) / (high - low) : 12);
  let pen = "M";
  let d = "";
  values.forEach((v, i) => {
    if (v === null || !Number.isFinite(v)) pen = "M";
    else {
      d += `${pen}${((120 * i) / Math.max(values.length - 1, 1)).toFixed(1)} ${y(v).toFixed(1)}`;
      pen = "L";
    }
  });
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 120 24");
  svg.setAttribute("class", "sparkline");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", d);
  svg.append(path);
  return svg;
}
