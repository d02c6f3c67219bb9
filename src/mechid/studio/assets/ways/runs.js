// Runs: the list, the report of one in its place, several side by side, and export.

import { downloadAddress, get, post, reportAddress } from "../api.js";
import { count, fill, h, icon, number } from "../dom.js";
import { JobCard, startJob } from "../job.js";
import { action, dialog, field, said, select, table } from "../parts.js";
import { exists, freeName, go, on, stemOf } from "../store.js";

const FORMATS = [
  ["model", "Model file of mechid", ".yaml"],
  ["urdf", "URDF (robots)", ".urdf"],
  ["mjcf", "MJCF (MuJoCo)", ".xml"],
  ["fmu", "FMU (co-simulation)", ".fmu"],
  ["c", "C code", ".c"],
  ["python", "Python code", ".py"],
  ["matlab", "MATLAB code", ".m"],
  ["xlsx", "Excel workbook", ".xlsx"],
  ["tables", "CSV tables", ""],
  ["latex", "LaTeX table", ".tex"],
];

/** The runs of the folder, as a panel; two or more can be compared. */
export async function runList() {
  let runs;
  try {
    runs = await get("runs");
  } catch (error) {
    return h("ul", { class: "said" }, said(error));
  }
  if (!runs.length) return null;
  const chosen = new Set();
  const beside = h(
    "button",
    {
      class: "button",
      type: "button",
      disabled: true,
      onclick: action(() => compare([...chosen])),
    },
    "Compare",
  );
  const row = ({ path, model, summary }) => {
    const pick = h("input", {
      type: "checkbox",
      "aria-label": `compare ${path}`,
      onchange: () => {
        pick.checked ? chosen.add(path) : chosen.delete(path);
        beside.disabled = chosen.size < 2;
      },
    });
    return h(
      "tr",
      {},
      h("td", {}, pick),
      h(
        "th",
        { scope: "row" },
        h(
          "button",
          { type: "button", class: "link", onclick: () => go("identify", { run: path }) },
          path,
        ),
      ),
      h("td", {}, model ?? ""),
      h("td", { class: "soft" }, words(summary ?? {})),
    );
  };
  return h(
    "section",
    { class: "panel", "aria-label": "Runs" },
    h("header", {}, h("h2", {}, "Runs"), beside),
    table(["", "run", "model", "result"], runs.map(row)),
  );
}

/** What a run found, in a line: its size, and the errors of the last motion with and without it. */
function words({ base_parameters: size, validation = [] }) {
  const last = validation.at(-1)?.motion;
  const of = (model) =>
    validation.findLast((v) => v.motion === last && v.model === model)?.overall ?? {};
  const [found, cad] = [of("estimate"), of("cad")];
  const percent = (share) => `${number(100 * share, 3)} %`;
  const errors = Object.entries(found).map(
    ([unit, share]) =>
      `${percent(share)}${unit in cad ? ` (CAD ${percent(cad[unit])})` : ""} of forces in ${unit}`,
  );
  return [
    size ? count(size, "base parameter") : "",
    errors.length ? `error on ${last}: ${errors.join(", ")}` : "",
  ]
    .filter(Boolean)
    .join(" · ");
}

async function compare(paths) {
  const found = await post("run/compare", { paths });
  const tables = [errorsOf(found), parametersOf(found)].filter(({ rows }) => rows.length);
  const shown = (value) => (typeof value === "number" ? number(value) : (value ?? "\u2013"));
  const page = h(
    "details",
    { ontoggle: () => page.querySelector("iframe") ?? page.append(reportFrame(paths)) },
    h("summary", {}, "Page that compares them, with charts"),
  );
  const { dialog: box } = dialog(
    `Compare ${paths.join(", ")}`,
    h(
      "div",
      { class: "in" },
      page,
      tables.map(({ title, columns, rows }) =>
        h(
          "section",
          {},
          h("h3", {}, title),
          h(
            "div",
            { class: "wide" },
            h(
              "table",
              {},
              h(
                "thead",
                {},
                h(
                  "tr",
                  {},
                  h("th", { scope: "col" }, ""),
                  h("th", { scope: "col" }, "unit"),
                  columns.map((c) => h("th", { scope: "col", class: "number" }, c)),
                ),
              ),
              h(
                "tbody",
                {},
                rows.map(({ name, unit, values }) =>
                  h(
                    "tr",
                    {},
                    h("th", { scope: "row" }, name),
                    h("td", { class: "soft" }, unit ?? ""),
                    values.map((v) => h("td", { class: "number" }, shown(v))),
                  ),
                ),
              ),
            ),
          ),
        ),
      ),
    ),
  );
  box.classList.add("broad");
}

/** Errors of the predicted forces, for each motion and model. */
function errorsOf({ runs }) {
  const rows = new Map();
  runs.forEach(({ validation }, k) => {
    for (const { motion, model, overall } of validation)
      for (const [unit, share] of Object.entries(overall)) {
        const name = `${motion}, ${model}, forces in ${unit}`;
        const row = rows.get(name) ?? { name, unit: "%", values: runs.map(() => null) };
        row.values[k] = 100 * share;
        rows.set(name, row);
      }
  });
  return {
    title: "Errors of predicted forces",
    columns: runs.map(({ path }) => path),
    rows: [...rows.values()],
  };
}

function parametersOf({ runs, parameters }) {
  const shown = (entry) => (entry ? `${number(entry.value)} ± ${number(entry.sigma, 2)}` : null);
  const rows = parameters.map(({ name, unit, cad, runs: values }) => ({
    name,
    unit,
    values: [cad, ...values.map(shown)],
  }));
  return { title: "Parameters", columns: ["CAD", ...runs.map(({ path }) => path)], rows };
}

const theme = () => document.documentElement.dataset.theme;

/** A report is a page of its own: it may run its scripts, and reach nothing of the studio. */
const reportFrame = (paths) =>
  h("iframe", {
    class: "report",
    title: `Report of ${paths.join(", ")}`,
    sandbox: "allow-scripts",
    src: reportAddress(paths, theme()),
  });

/** One run: its report in place, and what can be done with it. */
export function oneRun(host, path) {
  const frame = reportFrame([path]);
  const forget = on("theme", () => (frame.src = reportAddress([path], theme())));
  const exporting = h("div", { class: "live" });
  const card = { now: null };
  fill(
    host,
    h(
      "div",
      { class: "head" },
      h(
        "div",
        {},
        h("h1", {}, path),
        h("p", {}, "Identified model. The same run is in this folder for the command line."),
      ),
      h(
        "a",
        {
          class: "button",
          href: "#/identify",
          onclick: (event) => (event.preventDefault(), go("identify", { run: "" })),
        },
        "All runs",
      ),
      h(
        "button",
        { class: "primary", type: "button", onclick: () => exportDialog(path, exporting, card) },
        icon("down"),
        "Export",
      ),
    ),
    h(
      "div",
      { class: "body" },
      exporting,
      h("section", { class: "panel report-panel", "aria-label": "Report" }, frame),
    ),
  );
  return () => {
    forget();
    card.now?.close();
  };
}

function exportDialog(path, host, card) {
  const format = select(
    FORMATS.map(([key, label]) => [key, label]),
    "model",
    { onchange: () => (name.value = proposed()) },
  );
  const proposed = () =>
    freeName(`${stemOf(path)}-identified`, FORMATS.find(([key]) => key === format.value)[2]);
  const name = h("input", { value: proposed(), required: true });
  const loss = h("input", { type: "checkbox" });
  const { close } = dialog(
    `Export ${path}`,
    h(
      "form",
      {
        onsubmit: action(async () => {
          const output = name.value.trim();
          const job = await startJob(
            "export",
            { source: path, to: format.value, output, allow_loss: loss.checked },
            `Export ${output}`,
          );
          close();
          card.now?.close();
          card.now = new JobCard(job, {
            onend: (ended) => ended.state === "done" && ready(host, output),
          });
          fill(host, card.now.host);
        }),
      },
      field("Format", format),
      field("File", name),
      h(
        "label",
        { class: "check" },
        loss,
        h("span", {}, "Leave out what the format cannot hold; it is listed in the output"),
      ),
      h("div", { class: "row end" }, h("button", { class: "primary" }, "Export")),
    ),
  );
}

function ready(host, output) {
  host.prepend(
    h(
      "section",
      { class: "panel alone-head", "aria-label": "Exported" },
      h(
        "header",
        {},
        h("h2", {}, output),
        h("span", { class: "chip good" }, "exported"),
        exists(output) &&
          h(
            "a",
            { class: "button", href: downloadAddress(output), download: "" },
            icon("down"),
            "Download",
          ),
      ),
    ),
  );
}
