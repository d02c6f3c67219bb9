// Charts of the report, with uPlot: each figure holds its data as JSON. Drag to zoom in time,
// double-click to see everything; charts of one group (a motion) zoom together.
"use strict";
(() => {
  const LOOKS = {
    measured: { color: "--measured", width: 1 },
    predicted: { color: "--predicted", width: 1.6 },
    cad: { color: "--cad", width: 1, dash: [5, 4] },
    residual: { color: "--residual", width: 1 },
  };
  const groups = new Map();
  const charts = [];
  const style = getComputedStyle(document.documentElement);
  const color = (name) => style.getPropertyValue(name).trim();
  const minus = (text) => text.replaceAll("-", "\u2212");
  const power = (n) => [...String(n)].map((d) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(d)]).join("");

  function number(value) {
    if (value === null || value === undefined) return "";
    const size = Math.abs(value);
    if (size === 0) return "0";
    if (size < 1e-3 || size >= 1e6) {
      const [mantissa, exponent] = value.toExponential(2).split("e");
      return minus(mantissa) + "·10" + power(Number(exponent));
    }
    return minus(String(Number(value.toPrecision(4))));
  }

  function ticks(log) {
    return (_, values) =>
      values.map((v) => {
        if (v === null) return "";
        return !log || (v >= 0.01 && v <= 1e3) ? number(v) : "10" + power(Math.round(Math.log10(v)));
      });
  }

  /** Lines of a logarithmic axis: powers of ten, at most eight; 1, 2, 5 over less than two. */
  function decades(_, __, min, max) {
    const [low, high] = [Math.floor(Math.log10(min)), Math.ceil(Math.log10(max))];
    const step = Math.ceil((high - low) / 8);
    const steps = Math.log10(max / min) < 2 ? [1, 2, 5] : [1];
    const found = [];
    for (let k = low; k <= high; k += step) for (const s of steps) found.push(s * 10 ** k);
    return found.filter((v) => v >= min && v <= max);
  }

  function axis(spec, side) {
    const log = side === "y" && spec.y.log;
    return {
      stroke: () => color("--soft"),
      grid: { stroke: () => color("--grid"), width: 1 },
      ticks: { stroke: () => color("--line"), width: 1, size: 4 },
      font: "11px system-ui, sans-serif",
      labelFont: "11px system-ui, sans-serif",
      values: ticks(log),
      ...(side === "x"
        ? { size: 30, space: 60, label: spec.x.label, labelSize: 18, labelGap: -4 }
        : { size: 58, space: spec.y.range ? 20 : 34, gap: 4, ...(log ? { splits: decades, filter: (_, v) => v } : {}) }),
    };
  }

  function curve(series) {
    if (series.look === "band")
      return { label: series.name, width: 0, points: { show: false }, stroke: "transparent" };
    const look = LOOKS[series.look];
    return {
      label: series.name,
      stroke: () => color(look.color),
      width: look.width,
      dash: look.dash,
      points: { show: false },
      value: (_, v) => number(v),
    };
  }

  /** Marks of the legend are styled by the page, which changes its colours by itself. */
  function marker(series) {
    const look = LOOKS[series?.look];
    return look ? `var(${look.color})` : "transparent";
  }

  /** Vertical lines with a word, as the chosen size of a reduction. */
  function marks(list) {
    return {
      hooks: {
        draw: (u) => {
          const { ctx, bbox } = u;
          for (const { x, label } of list) {
            const at = Math.round(u.valToPos(x, "x", true));
            if (at < bbox.left || at > bbox.left + bbox.width) continue;
            ctx.save();
            ctx.strokeStyle = ctx.fillStyle = color("--ink");
            ctx.lineWidth = devicePixelRatio;
            ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
            ctx.beginPath();
            ctx.moveTo(at, bbox.top);
            ctx.lineTo(at, bbox.top + bbox.height);
            ctx.stroke();
            ctx.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
            const right = at < bbox.left + bbox.width / 2;
            ctx.textAlign = right ? "left" : "right";
            ctx.fillText(label, at + (right ? 5 : -5) * devicePixelRatio, bbox.top + 14 * devicePixelRatio);
            ctx.restore();
          }
        },
      },
    };
  }

  /** Charts of a group show the same span of time. */
  function together(group) {
    const members = groups.get(group) ?? [];
    groups.set(group, members);
    return {
      hooks: {
        ready: (u) => members.push(u),
        setScale: (u, key) => {
          if (key !== "x" || members.busy) return;
          members.busy = true; // the others follow, and are not followed in turn
          const { min, max } = u.scales.x;
          for (const other of members) if (other !== u) other.setScale("x", { min, max });
          members.busy = false;
        },
      },
    };
  }

  /** A finger: drag sideways to zoom, tap twice to see everything. */
  function touch() {
    return {
      hooks: {
        ready: (u) => {
          const over = u.over;
          over.style.touchAction = "pan-y pinch-zoom";
          let from = null;
          let last = 0;
          const place = (event) => event.clientX - over.getBoundingClientRect().left;
          over.addEventListener("pointerdown", (event) => {
            if (event.pointerType !== "touch") return;
            from = place(event);
            if (event.timeStamp - last < 350) all(u);
            last = event.timeStamp;
          });
          over.addEventListener("pointermove", (event) => {
            if (from === null || event.pointerType !== "touch") return;
            const to = place(event);
            const select = { left: Math.min(from, to), width: Math.abs(to - from), top: 0, height: over.clientHeight };
            u.setSelect(select, false);
          });
          over.addEventListener("pointerup", (event) => {
            if (from === null || event.pointerType !== "touch") return;
            const [left, right] = [from, place(event)].sort((a, b) => a - b);
            from = null;
            u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
            if (right - left > 12)
              u.setScale("x", { min: u.posToVal(left, "x"), max: u.posToVal(right, "x") });
          });
          over.addEventListener("pointercancel", () => {
            from = null;
            u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
          });
        },
      },
    };
  }

  function all(u) {
    const x = u.data[0];
    u.setScale("x", { min: x[0], max: x[x.length - 1] });
  }

  function add(figure) {
    const spec = JSON.parse(figure.querySelector("script").textContent);
    const banded = spec.series[0].look === "band";
    const height = Number(figure.dataset.height);
    const unit = spec.x.unit ? ` ${spec.x.unit}` : "";
    const options = {
      width: Math.max(figure.clientWidth, 120),
      height,
      padding: [8, 12, 0, 0],
      scales: { x: { time: false }, y: spec.y.log ? { distr: 3 } : spec.y.range ? { range: spec.y.range } : {} },
      series: [
        { label: spec.x.name, value: (_, v) => (v === null ? "" : number(v) + unit) },
        ...spec.series.map(curve),
      ],
      bands: banded ? [{ series: [2, 1], fill: () => color("--band") }] : [],
      axes: [axis(spec, "x"), axis(spec, "y")],
      cursor: { drag: { x: true, y: false, uni: 12 }, points: { size: 5 }, y: false },
      plugins: [
        touch(),
        ...(spec.group ? [together(spec.group)] : []),
        ...(spec.marks ? [marks(spec.marks)] : []),
      ],
      legend: { markers: { width: 0, fill: (_, i) => marker(spec.series[i - 1]) } },
    };
    const u = new uPlot(options, [spec.x.values, ...spec.series.map((s) => s.values)], figure);
    // The two edges of the band are no curves of their own.
    if (banded) for (const row of [1, 2]) u.root.querySelectorAll(".u-series")[row].classList.add("edge");
    figure.classList.add("live"); // the picture for paper gives way on the screen
    charts.push(u);
    new ResizeObserver(() => {
      const width = Math.max(figure.clientWidth, 120);
      if (width !== u.width) u.setSize({ width, height });
    }).observe(figure);
  }

  document.documentElement.classList.add("live");
  document.querySelectorAll("figure.chart").forEach(add);
  if (document.createElement("canvas").getContext("webgl2"))
    document.documentElement.classList.add("webgl");
  const redraw = () => charts.forEach((u) => u.redraw(false, true));
  for (const media of ["(prefers-color-scheme: dark)", "print"])
    matchMedia(media).addEventListener("change", redraw);

  // On paper, what the verdict rests on is open.
  addEventListener("beforeprint", () => {
    for (const part of document.querySelectorAll(".verdict details")) part.open = true;
  });

  // For scripts and tests.
  window.mechidReport = { charts };
})();
