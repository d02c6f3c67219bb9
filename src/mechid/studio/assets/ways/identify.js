// Identify: logs, what is known, a run with live progress; runs, their reports, comparison, export.

import { chosenModel, noModel, pageOf, summaryOf } from "../choose.js";
import { fill, h, icon, number } from "../dom.js";
import { JobCard, startJob } from "../job.js";
import { action, dropZone, field, panel, said, select, table } from "../parts.js";
import { exists, filesOf, freeName, go, note, stemOf, store } from "../store.js";
import { mappingOf } from "./measure.js";
import { oneRun, runList } from "./runs.js";

const METHODS = [
  ["auto", "Most probable values, noise as the data show it"],
  ["physical", "Physically consistent bodies"],
  ["map", "Most probable values, noise as declared"],
  ["huber", "Robust against outliers"],
  ["ols", "Least squares, without CAD values"],
];
const FRICTION = [
  ["keep", "As the model says"],
  ["auto", "Choose what predicts better"],
  ["coulomb,viscous", "Coulomb and viscous"],
];

export async function identify(host, of) {
  if (of.run && exists(of.run)) return oneRun(host, of.run);
  const model = chosenModel(of);
  const text = "The parameters of the model, from what was measured and what is known.";
  const { inside, actions } = pageOf(host, "Identify", text, model);
  const runs = await runList();
  if (!model) return void fill(inside, noModel(), runs);
  let summary;
  try {
    summary = await summaryOf(model);
  } catch (error) {
    return void fill(inside, h("ul", { class: "said" }, said(error)), runs);
  }
  return form({ inside, actions, model, summary, runs, of });
}

function form({ inside, actions, model, summary, runs, of }) {
  const logs = new Logs(of.log);
  const weights = new Weights(summary.bodies);
  const name = h("input", { value: freeName(`${stemOf(model)}-run`), required: true });
  const cad = h("input", { placeholder: "as the model declares" });
  const method = select(METHODS, "auto");
  const friction = select(FRICTION, "auto");
  const zeroed = h("input", { type: "checkbox" });
  const reduce = h("input", { type: "checkbox" });
  const live = h("div", { class: "live" });
  let card = null;

  const begin = action(async () => {
    const { log, validate, map } = logs.chosen();
    const job = await startJob(
      "identify",
      {
        model,
        log,
        validate,
        map,
        output: name.value.trim(),
        estimator: method.value,
        cad_error: percent(cad.value),
        weigh: weights.chosen(),
        friction: friction.value === "auto" ? undefined : friction.value,
        without: zeroed.checked && method.value === "auto" ? "offsets,gains,drifts" : undefined,
        reduce: reduce.checked ? "contribution" : undefined,
      },
      `Identify ${stemOf(model)}`,
    );
    note({ job: job.id });
    watch(job);
    live.scrollIntoView({ block: "nearest" });
  });

  fill(
    actions,
    h("button", { class: "primary", type: "button", onclick: begin }, icon("identify"), "Identify"),
  );
  fill(
    inside,
    live,
    h(
      "div",
      { class: "two" },
      h(
        "div",
        { class: "stack" },
        logs.host,
        panel(
          "Run",
          field(
            "Folder",
            name,
            "Everything that the run used and found, also for the command line.",
          ),
        ),
      ),
      panel(
        "What is known",
        h(
          "div",
          { class: "fields" },
          field("Error of the CAD values", cad, "As 10 %: one standard deviation."),
          field("Method", method),
          field("Friction of joints", friction),
        ),
        h("label", { class: "check" }, zeroed, h("span", {}, "Sensors are zeroed and calibrated")),
        h(
          "label",
          { class: "check" },
          reduce,
          h("span", {}, "Also find the smallest model that predicts as well"),
        ),
        h("details", {}, h("summary", {}, "Bodies that were weighed"), weights.host),
      ),
    ),
    runs,
  );

  function watch(job) {
    card?.close();
    card = new JobCard(job, {
      onend: (ended) => {
        const run = ended.outputs?.[0];
        if (ended.state === "done" && exists(run)) go("identify", { model, run });
      },
    });
    fill(live, card.host);
  }

  const mine = store.jobs.find((job) =>
    of.job ? job.id === of.job : job.command === "identify" && job.state === "running",
  );
  if (mine && mine.state === "running") watch(mine);
  return () => card?.close();
}

const percent = (text) => {
  const word = text.trim();
  if (word === "") return undefined;
  return word.includes("%") ? word.replace(/\s/g, "") : `${word}%`;
};

/** The logs of the folder: each is used, kept for validation, or left out; each has its mapping. */
class Logs {
  constructor(first) {
    this.host = h("section", { class: "panel", "aria-label": "Logs" });
    this.rows = [];
    this.first = first;
    this.draw();
  }

  draw() {
    const paths = filesOf("data").map(({ path }) => path);
    const maps = filesOf("mapping").map(({ path }) => path);
    const only = paths.length === 1 ? paths[0] : null;
    this.rows = paths.map((path) => {
      const role = select(
        [
          ["", "not used"],
          ["log", "identify"],
          ["validate", "validate"],
        ],
        path === (this.first ?? only) ? "log" : "",
        { "aria-label": `use of ${path}` },
      );
      const own = mappingOf(path);
      const map = select(
        [["", "by their names"], ...maps.map((m) => [m, m])],
        maps.includes(own) ? own : "",
        { "aria-label": `mapping of ${path}` },
      );
      return { path, role, map };
    });
    fill(
      this.host,
      h("header", {}, h("h2", {}, "Logs"), h("small", {}, "Keep one for validation if you can.")),
      this.rows.length
        ? table(
            ["log", "use", "channels"],
            this.rows.map(({ path, role, map }) => cells(path, role, map)),
            "cells",
          )
        : null,
      h(
        "div",
        { class: "in" },
        dropZone("Drop a log", "its channels are mapped in Measure", ([path]) =>
          go("measure", { log: path }),
        ),
      ),
    );
  }

  chosen() {
    const of = (use) => this.rows.filter(({ role }) => role.value === use);
    const log = of("log").map(({ path }) => path);
    const validate = of("validate").map(({ path }) => path);
    if (!log.length)
      throw Object.assign(new Error(), {
        what: "no log is used for the identification",
        remedy: "set the use of a log to identify",
      });
    const used = [...of("log"), ...of("validate")];
    const maps = [...new Set(used.map(({ map }) => map.value))];
    const map =
      maps.length === 1
        ? maps.filter(Boolean)
        : used.filter((row) => row.map.value).map((row) => `${row.path}=${row.map.value}`);
    return { log, validate, map };
  }
}

/** Measured masses: BODY=MASS±SIGMA. */
class Weights {
  constructor(bodies) {
    this.rows = bodies.map(({ name, mass }) => ({
      name,
      mass: h("input", {
        size: 7,
        inputmode: "decimal",
        placeholder: mass === null || mass === undefined ? "" : number(mass),
        "aria-label": `measured mass of ${name}`,
      }),
      sigma: h("input", {
        size: 6,
        inputmode: "decimal",
        placeholder: "1 %",
        "aria-label": `standard deviation of the mass of ${name}`,
      }),
    }));
    this.host = table(
      ["body", "mass, kg", "± kg"],
      this.rows.map(({ name, mass, sigma }) => cells(name, mass, sigma)),
      "cells",
    );
  }

  chosen() {
    const found = this.rows.filter(({ mass }) => mass.value.trim() !== "");
    return found.map(({ name, mass, sigma }) => {
      const m = Number(mass.value);
      const s = sigma.value.trim() === "" ? 0.01 * m : Number(sigma.value);
      if (!(m > 0) || !(s >= 0))
        throw Object.assign(new Error(), {
          what: `${name}: mass and deviation must be numbers in kg`,
          remedy: "write them as 3.4 and 0.05",
        });
      return `${name}=${m}±${Number(s.toPrecision(4))}`;
    });
  }
}

const cells = (name, ...values) =>
  h(
    "tr",
    {},
    h("th", { scope: "row" }, name),
    values.map((value) => h("td", {}, value)),
  );
