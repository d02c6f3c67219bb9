// Excite: limits, a search that shows the best motion so far, and the motion for the rig.

import { downloadAddress, get, post, write } from "../api.js";
import { chart } from "../chart.js";
import { chosenModel, noModel, pageOf, summaryOf } from "../choose.js";
import { fill, h, icon } from "../dom.js";
import { JobCard, startJob } from "../job.js";
import { Mechanism } from "../mechanism.js";
import { action, field, panel, said, select, table, withUnit } from "../parts.js";
import { exists, freeName, note, stemOf, store } from "../store.js";
import { toYaml } from "../yaml.js";

const CRITERIA = [
  ["prediction", "Predict forces of other motions"],
  ["d", "All parameters together (d)"],
  ["a", "Mean variance of the parameters (a)"],
  ["e", "The worst parameter (e)"],
  ["condition", "Condition number"],
];
const RATES = { m: ["m", "m/s", "m/s²"], rad: ["rad", "rad/s", "rad/s²"] };

export async function excite(host, of) {
  const model = chosenModel(of);
  const text = "A motion that shows the parameters, within the limits of your machine.";
  const { inside, actions } = pageOf(host, "Excite", text, model);
  if (!model) return void fill(inside, noModel());
  let summary;
  let usual;
  try {
    summary = await summaryOf(model);
    usual = (await post("model/limits", { path: model })).limits;
  } catch (error) {
    return void fill(inside, h("ul", { class: "said" }, said(error)));
  }
  return show({ inside, actions, model, summary, usual, of });
}

function show({ inside, actions, model, summary, usual, of }) {
  const driven = summary.coordinates.filter((c) => !c.held);
  const limits = new Limits(driven, usual);
  const form = {
    harmonics: h("input", { type: "number", min: 1, max: 20, value: "5" }),
    frequency: h("input", { type: "number", min: 0, step: "any", value: "1" }),
    seconds: h("input", { type: "number", min: 1, step: "any", value: "60" }),
    criterion: select(CRITERIA, "prediction"),
    rest: h("input", { type: "checkbox", checked: true }),
    rate: h("input", { type: "number", min: 1, step: "any", value: "250" }),
  };
  const live = h("div", { class: "live" });
  let card = null;
  let mechanism = null;

  const begin = action(async () => {
    const output = freeName(`${stemOf(model)}-motion`, ".yaml");
    const file = limits.record() ? await limits.save(model) : undefined;
    const job = await startJob(
      "excite",
      {
        model,
        output,
        table: output.replace(/\.yaml$/, ".csv"),
        rate: Number(form.rate.value),
        harmonics: Number(form.harmonics.value),
        frequency: Number(form.frequency.value),
        max_seconds: Number(form.seconds.value),
        criterion: form.criterion.value,
        rest: form.rest.checked,
        limits: file,
      },
      `Motion for ${stemOf(model)}`,
    );
    note({ job: job.id, trajectory: undefined });
    watch(job);
  });

  fill(
    actions,
    h(
      "button",
      { class: "primary", type: "button", onclick: begin },
      icon("excite"),
      "Search a motion",
    ),
  );
  fill(
    inside,
    live,
    h(
      "div",
      { class: "two excite" },
      panel(
        "Motion",
        h(
          "div",
          { class: "fields" },
          field("Base frequency", withUnit(form.frequency, "Hz"), "The motion lasts one period."),
          field("Harmonics", form.harmonics, "More of them: richer, faster motion."),
          field("Good is", form.criterion),
          field(
            "Search for",
            withUnit(form.seconds, "s"),
            "The best so far is kept when you stop.",
          ),
          field("Table for the rig", withUnit(form.rate, "samples/s")),
        ),
        h("label", { class: "check" }, form.rest, h("span", {}, "Start and end at rest")),
      ),
      limits.host,
    ),
  );

  function watch(job) {
    card?.close();
    const best = h("div", { class: "best" });
    let curve = null;
    card = new JobCard(job, {
      onprogress: (entries) => {
        const known = entries.filter(
          (e) => e.best !== null && e.best !== undefined && Number.isFinite(e.best),
        );
        if (!known.length) return;
        const [x, y] = [known.map((e) => e.seconds), lowest(known.map((e) => e.best))];
        if (curve) curve.set(x, [y]);
        else {
          curve = chart({
            x: { name: "time", unit: "s", values: x },
            series: [{ name: "best so far", values: y }],
            height: 180,
            log: y.every((v) => v > 0),
            steps: true,
            legend: false,
          });
          fill(best, h("h3", {}, "Best so far, lower is better"), curve);
        }
      },
      onend: (ended) =>
        ended.state !== "failed" &&
        ended.outputs?.some(exists) &&
        result(ended.outputs.find((p) => p.endsWith(".yaml"))),
    });
    card.host.querySelector(".in").append(best);
    fill(live, card.host);
    live.scrollIntoView({ block: "nearest" });
  }

  async function result(path) {
    note({ trajectory: path });
    mechanism?.close();
    mechanism = new Mechanism();
    const files = [path, path.replace(/\.yaml$/, ".csv")].filter(exists);
    const about = h(
      "div",
      { class: "in" },
      h(
        "div",
        { class: "row" },
        files.map((file) =>
          h(
            "a",
            { class: "button", href: downloadAddress(file), download: "" },
            icon("down"),
            file,
          ),
        ),
      ),
    );
    live.querySelector(".motion")?.remove();
    live.prepend(
      h(
        "section",
        { class: "panel motion", "aria-label": "Motion" },
        h("header", {}, h("h2", {}, path)),
        mechanism.host,
        about,
      ),
    );
    try {
      mechanism.show(await post("model/scene", { path: model, motion: path }));
    } catch (error) {
      about.append(h("ul", { class: "said" }, said(error)));
    }
  }

  const mine = of.job
    ? store.jobs.find((job) => job.id === of.job)
    : store.jobs.find((job) => job.command === "excite" && job.state === "running");
  if (mine) watch(mine);
  else if (of.trajectory && exists(of.trajectory)) result(of.trajectory);
  return () => {
    card?.close();
    mechanism?.close();
  };
}

/** The best value up to each time. */
function lowest(values) {
  let low = Infinity;
  return values.map((v) => (low = Math.min(low, v)));
}

/** Limits of positions, speeds, accelerations and forces; what is left empty is the usual one. */
class Limits {
  constructor(coordinates, usual) {
    this.coordinates = coordinates;
    this.cells = new Map();
    const cell = (kind, name, hint, label) => {
      const input = h("input", {
        placeholder: hint,
        size: 6,
        inputmode: "decimal",
        "aria-label": `${label} of ${name}`,
      });
      this.cells.set(`${kind} ${name}`, input);
      return h("td", {}, input);
    };
    const shown = (value) =>
      value === null || value === undefined
        ? ""
        : String(Number([value].flat().at(-1).toPrecision(4)));
    const rows = coordinates.map(({ name, unit, low, high, force, force_unit: forceUnit }) => {
      const [length, speed, acceleration] = RATES[unit] ?? [unit, `${unit}/s`, `${unit}/s²`];
      const range = usual.position?.[name] ?? [low, high];
      return h(
        "tr",
        {},
        h("th", { scope: "row" }, name, h("small", {}, ` ${length}, ${speed}, ${acceleration}`)),
        cell("low", name, shown(range[0]), "least position"),
        cell("high", name, shown(range[1]), "greatest position"),
        cell("speed", name, shown(usual.speed?.[name]), "speed"),
        cell("acceleration", name, shown(usual.acceleration?.[name]), "acceleration"),
        force
          ? h(
              "td",
              { class: "with-unit" },
              cell("force", force, shown(usual.force?.[force]), "force").firstChild,
              h("small", {}, forceUnit ?? ""),
            )
          : h("td", {}),
      );
    });
    const names = ["coordinate", "from", "to", "speed", "acceleration", "force"];
    this.host = h(
      "section",
      { class: "panel", "aria-label": "Limits" },
      h(
        "header",
        {},
        h("h2", {}, "Limits"),
        h("small", {}, "Empty: the usual limit, shown in grey."),
      ),
      table(names, rows, "cells limits"),
    );
    this.usual = usual;
  }

  /** The limits as a file has them, or nothing where all are the usual ones. */
  record() {
    const value = (key) => {
      const text = this.cells.get(key)?.value.trim() ?? "";
      if (text === "") return null;
      const found = Number(text.replace("\u2212", "-"));
      if (!Number.isFinite(found))
        throw Object.assign(new Error(), {
          what: `${key}: ${text} is not a number`,
          remedy: "write it as 0.5",
        });
      return found;
    };
    if ([...this.cells.keys()].every((key) => value(key) === null)) return null;
    // A file replaces the usual limits, so those that were left empty are written too.
    const found = structuredClone(this.usual);
    const put = (kind, name, bound) => ((found[kind] ??= {})[name] = bound);
    for (const { name, force, low, high } of this.coordinates) {
      const range = this.usual.position?.[name] ?? [low ?? null, high ?? null];
      const ends = [value(`low ${name}`), value(`high ${name}`)];
      if (ends.some((end) => end !== null))
        put("position", name, [ends[0] ?? range[0], ends[1] ?? range[1]]);
      for (const kind of ["speed", "acceleration"])
        if (value(`${kind} ${name}`) !== null) put(kind, name, value(`${kind} ${name}`));
      if (force && value(`force ${force}`) !== null) put("force", force, value(`force ${force}`));
    }
    return found;
  }

  async save(model) {
    const path = `${stemOf(model)}-limits.yaml`;
    const etag = exists(path) ? (await get("file", { path })).etag : undefined;
    await write(path, toYaml(this.record()), etag);
    return path;
  }
}
