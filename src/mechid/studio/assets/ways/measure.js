// Measure: which channel of a log is which coordinate or force, and what is wrong with the log.

import { get, post, write } from "../api.js";
import { chart, sparkline } from "../chart.js";
import { chosenModel, modelField, noModel } from "../choose.js";
import { count, fill, h, later, number } from "../dom.js";
import { action, dropZone, field, notice, said, select, table } from "../parts.js";
import { exists, filesOf, go, place, refreshFiles } from "../store.js";
import { toYaml } from "../yaml.js";

const UNITS = {
  m: ["m", "mm", "cm", "in", "ft"],
  rad: ["rad", "deg", "mrad", "rev"],
  N: ["N", "kN", "mN", "kgf", "lbf"],
  "N m": ["N m", "N mm", "kN m", "in lbf", "ft lbf"],
};
const PAUSE = 400;

export const mappingOf = (log) => log.replace(/\.[^./]*$/, "") + ".map.yaml";

export async function measure(host, of) {
  const model = chosenModel(of);
  const log = of.log && exists(of.log) ? of.log : null;
  const logs = filesOf("data").map(({ path }) => path);
  const open = (path) => go("measure", { ...place().of, model, log: path });
  const logList = select([["", "Choose a log"], ...logs.map((p) => [p, p])], log ?? "", {
    onchange: () => open(logList.value),
  });
  const actions = h("div", { class: "row" });
  const inside = h("div", { class: "body" });
  fill(
    host,
    h(
      "div",
      { class: "head" },
      h(
        "div",
        {},
        h("h1", {}, "Measure"),
        h("p", {}, "Which channel of a log is what, and whether it can be used."),
      ),
      actions,
    ),
    h("div", { class: "strip-fields" }, modelField(model), field("Log", logList)),
    inside,
  );
  if (!model) return void fill(inside, noModel());
  if (!log)
    return void fill(
      inside,
      h(
        "section",
        { class: "panel" },
        h(
          "div",
          { class: "in" },
          dropZone(
            "Drop a log of your test rig",
            "CSV, Parquet, MATLAB, HDF5, MDF 4, ROS bag; several files at once are fine",
            ([first]) => open(first),
          ),
        ),
      ),
    );

  fill(
    inside,
    h("section", { class: "panel" }, h("div", { class: "in center soft" }, "Reading the log…")),
  );
  const saved = mappingOf(log);
  let inspected;
  let proposed;
  try {
    inspected = await post("log/inspect", { path: log });
    proposed = await post("log/mapping", { path: log, model });
    if (exists(saved))
      proposed.mapping = (await post("log/mapping", { path: log, model, file: saved })).mapping;
  } catch (error) {
    return void fill(inside, h("ul", { class: "said" }, said(error)));
  }
  return new Mapping({ inside, actions, log, model, inspected, proposed }).start();
}

class Mapping {
  constructor(given) {
    Object.assign(this, given);
    this.mapping = structuredClone(given.proposed.mapping);
    const clock = given.inspected.columns.filter(({ guess }) => guess === "time");
    if (!this.mapping.time && !this.mapping.rate && clock.length === 1)
      this.mapping.time = { channel: clock[0].name };
    this.mapping.positions ??= {};
    this.mapping.forces ??= {};
    this.wanted = given.proposed.quantities.map(({ role, name, unit }) => ({
      group: role,
      name,
      unit,
    }));
    this.active = this.wanted.findIndex((row) => !this.entry(row)?.channel);
    this.result = h("div", { class: "in", "aria-live": "polite" });
    this.quantities = h("tbody", {});
    this.channels = h("ul", { class: "channels" });
    this.check = later(() => this.ask(), PAUSE);
  }

  start() {
    const chip = (this.chip = h("span", { class: "chip running" }, "checking"));
    fill(
      this.actions,
      h(
        "button",
        { class: "button", type: "button", onclick: action(() => this.save()) },
        "Save the mapping",
      ),
      h(
        "button",
        { class: "primary", type: "button", onclick: action(() => this.use()) },
        "Identify with it",
      ),
    );
    fill(
      this.inside,
      h(
        "div",
        { class: "mapping" },
        h(
          "section",
          { class: "panel", "aria-label": "Quantities" },
          h(
            "header",
            {},
            h("h2", {}, "Quantities of the model"),
            h("small", {}, "Choose a row, then point at its channel."),
          ),
          table(
            ["quantity", "channel", "unit", "sign", "offset", "delay, s"],
            this.quantities,
            "quantities",
          ),
        ),
        h(
          "section",
          { class: "panel", "aria-label": "Channels" },
          h("header", {}, h("h2", {}, "Channels of the log"), h("small", {}, this.about())),
          this.channels,
        ),
      ),
      h(
        "section",
        { class: "panel", "aria-label": "Check" },
        h("header", {}, h("h2", {}, "Check"), chip),
        this.result,
      ),
    );
    this.draw();
    this.ask();
    return () => (this.left = true);
  }

  about() {
    const { samples, start, end, rate } = this.inspected;
    return [
      count(samples ?? 0, "sample"),
      end > start ? `${number(end - start)} s` : "",
      rate ? `${number(rate)} Hz` : "",
    ]
      .filter(Boolean)
      .join(", ");
  }

  /** The entry of a quantity as a record; a plain name stands for its channel. */
  entry({ group, name }) {
    const found = this.mapping[group][name];
    return typeof found === "string" ? { channel: found } : found;
  }

  put(row, changes) {
    const entry = { ...this.entry(row), ...changes };
    for (const [key, value] of Object.entries(entry))
      if (value === "" || value === null || value === undefined) delete entry[key];
    if (entry.channel || entry.channels) this.mapping[row.group][row.name] = entry;
    else delete this.mapping[row.group][row.name];
    this.changed();
  }

  draw() {
    const names = this.inspected.columns.map(({ name }) => name);
    fill(
      this.quantities,
      this.wanted.map((row, k) => this.quantity(row, k, names)),
      this.clock(names),
    );
    const used = new Map(this.wanted.map((row) => [this.entry(row)?.channel, row.name]));
    const time = this.mapping.time?.channel ?? this.inspected.clock;
    fill(
      this.channels,
      this.inspected.columns.map(({ name, unit, curve, min, max }) => {
        const is = used.get(name) ?? (name === time ? "time" : null);
        return h(
          "li",
          {},
          h(
            "button",
            {
              type: "button",
              class: is ? "used" : null,
              "data-channel": name,
              onclick: () => this.point(name),
            },
            h("b", {}, name),
            h("span", { class: "soft" }, unit ?? ""),
            sparkline(thinned(curve?.values ?? [])),
            h(
              "small",
              {},
              min === null || min === undefined ? "" : `${number(min)} to ${number(max)}`,
            ),
            h("span", { class: is ? "chip plain is" : "chip plain is free" }, is ?? "not used"),
          ),
        );
      }),
    );
  }

  /** The channel for the chosen row; the next row without one is chosen then. */
  point(name) {
    const row = this.wanted[this.active] ?? this.wanted[0];
    for (const other of this.wanted)
      if (other !== row && this.entry(other)?.channel === name) this.put(other, { channel: "" });
    this.put(row, { channel: name, unit: undefined });
    const next = this.wanted.findIndex(
      (other, k) => k > this.active && !this.entry(other)?.channel,
    );
    this.active = next >= 0 ? next : this.wanted.findIndex((other) => !this.entry(other)?.channel);
    this.draw();
    this.channels.querySelector(`[data-channel="${CSS.escape(name)}"]`)?.focus();
  }

  quantity(row, k, names) {
    const entry = this.entry(row) ?? {};
    const list = `units-${k}`;
    const change = (key, read) => (event) => this.put(row, { [key]: read(event.target.value) });
    const value = (text) =>
      text.trim() === "" ? null : Number.isFinite(Number(text)) ? Number(text) : text;
    const label = (what) => `${what} of ${row.name}`;
    const stated = this.inspected.columns.find(({ name }) => name === entry.channel)?.unit;
    const channel = select(
      [["", "not measured"], ...names.map((n) => [n, n])],
      entry.channel ?? "",
      {
        "aria-label": label("channel"),
        onfocus: () => this.choose(k),
        onchange: (event) => {
          this.put(row, { channel: event.target.value, unit: undefined });
          this.draw();
          this.quantities.children[k].querySelector("select").focus();
        },
      },
    );
    return h(
      "tr",
      {
        class: "pick",
        "aria-selected": k === this.active ? "true" : "false",
        onclick: (event) => event.target.closest("input, select") || this.choose(k),
      },
      h("th", { scope: "row" }, row.name, h("small", {}, row.group === "forces" ? " force" : "")),
      h("td", {}, entry.channels ? h("code", {}, "sum of channels") : channel),
      h(
        "td",
        {},
        h("input", {
          value: entry.unit ?? "",
          placeholder: stated ?? row.unit,
          list,
          size: 5,
          "aria-label": label("unit"),
          onchange: change("unit", (t) => t.trim()),
        }),
        h(
          "datalist",
          { id: list },
          (UNITS[row.unit] ?? [row.unit]).map((u) => h("option", { value: u })),
        ),
      ),
      h(
        "td",
        {},
        select(
          [
            ["1", "+"],
            ["-1", "\u2212"],
          ],
          String(entry.sign ?? 1),
          {
            "aria-label": label("sign"),
            onchange: change("sign", (t) => (t === "-1" ? -1 : null)),
          },
        ),
      ),
      h(
        "td",
        {},
        h("input", {
          value: entry.offset ?? "",
          placeholder: "0",
          size: 5,
          "aria-label": label("offset"),
          onchange: change("offset", value),
        }),
      ),
      h(
        "td",
        {},
        h("input", {
          value: entry.delay ?? "",
          placeholder: "0",
          size: 5,
          "aria-label": label("delay"),
          onchange: change("delay", value),
        }),
      ),
    );
  }

  /** Where the times are, or how many samples per second there are. */
  clock(names) {
    const { time, rate } = this.mapping;
    const entry = typeof time === "string" ? { channel: time } : (time ?? {});
    const set = (changes) => {
      const next = { ...entry, ...changes };
      if (!next.unit) delete next.unit;
      if (next.channel) [this.mapping.time, this.mapping.rate] = [next, undefined];
      else this.mapping.time = undefined;
      this.changed();
      this.draw();
    };
    const channel = select(
      [["", "no channel: samples per second"], ...names.map((n) => [n, n])],
      entry.channel ?? "",
      {
        "aria-label": "channel of the times",
        onchange: (event) => set({ channel: event.target.value, unit: undefined }),
      },
    );
    const unit = h("input", {
      value: entry.unit ?? "",
      placeholder: "auto",
      list: "units-time",
      size: 5,
      "aria-label": "unit of the times",
      onchange: (event) => set({ unit: event.target.value.trim() }),
    });
    const perSecond = h("input", {
      value: rate ?? "",
      placeholder: "samples/s",
      inputmode: "decimal",
      "aria-label": "samples per second",
      onchange: (event) => (
        (this.mapping.rate = Number(event.target.value) || undefined),
        this.changed()
      ),
    });
    return h(
      "tr",
      {},
      h("th", { scope: "row" }, "time"),
      h("td", {}, channel),
      h(
        "td",
        {},
        entry.channel ? unit : perSecond,
        h(
          "datalist",
          { id: "units-time" },
          ["s", "ms", "us", "ns"].map((u) => h("option", { value: u })),
        ),
      ),
      h("td", { colspan: "3" }),
    );
  }

  choose(k) {
    this.active = k;
    [...this.quantities.children]
      .slice(0, this.wanted.length)
      .forEach((row, i) => row.setAttribute("aria-selected", String(i === k)));
  }

  /** What was said about another mapping does not count any more. */
  changed() {
    this.asked = {};
    this.chip.className = "chip running";
    this.chip.textContent = "checking";
    this.check();
  }

  async ask() {
    const asked = (this.asked = {});
    let found;
    try {
      found = await post("log/check", { path: this.log, model: this.model, mapping: this.mapping });
    } catch (error) {
      found = { ok: false, errors: [error], warnings: [], notes: [], series: [] };
    }
    if (asked !== this.asked || this.left) return;
    this.chip.className = found.ok ? "chip good" : "chip bad";
    this.chip.textContent = found.ok ? "can be used" : "cannot be used";
    const words = (list, kind) =>
      (list ?? []).map((entry) => said(typeof entry === "string" ? { what: entry } : entry, kind));
    const good = found.ok
      ? [
          said(
            { what: `${count(found.samples, "sample")} at ${number(found.rate)} Hz can be used.` },
            "good",
          ),
        ]
      : [];
    fill(
      this.result,
      h("ul", { class: "said" }, [
        ...words(found.errors, "bad"),
        ...good,
        ...words(found.warnings, "warn"),
      ]),
      h("div", { class: "plots" }, (found.series ?? []).map(plot)),
      found.notes?.length
        ? h(
            "details",
            { open: true },
            h("summary", {}, "What was decided when it was read"),
            h(
              "ul",
              { class: "notes" },
              found.notes.map((text) => h("li", {}, text)),
            ),
          )
        : null,
    );
  }

  text() {
    return toYaml({ measurement: 1, ...this.mapping });
  }

  async save() {
    const path = mappingOf(this.log);
    const etag = exists(path) ? (await get("file", { path })).etag : undefined;
    await write(path, this.text(), etag);
    await refreshFiles();
    notice(`Saved ${path}`);
    return path;
  }

  async use() {
    await this.save();
    go("identify", { model: this.model, log: this.log });
  }
}

/** About as many values as a small curve has dots. */
const thinned = (values) =>
  values.filter((_, i) => i % Math.max(1, Math.ceil(values.length / 160)) === 0);

function plot({ name, unit, time, values }) {
  return h(
    "div",
    {},
    h("h3", { class: "plot-title" }, name, h("span", {}, ` ${unit}`)),
    chart({
      x: { name: "time", unit: "s", values: time },
      series: [{ name, values }],
      height: 130,
      legend: false,
    }),
  );
}
