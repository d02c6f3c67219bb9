// The table of hardpoints of a template, to be filled in here or to be replaced by a spreadsheet.

import { get, post, sheetAddress, write } from "./api.js";
import { format, parse, tables } from "./csv.js";
import { fill, h } from "./dom.js";
import { action, dialog, dropZone, field, notice, saidList, table } from "./parts.js";
import { freeName, go, refreshFiles } from "./store.js";

// Columns that are shown; the others (inertia, uncertainties) stay in the file.
const SHOWN = {
  point: ["x", "y", "z", "unit"],
  parameter: ["value", "unit"],
  body: ["mass", "mass unit", "cx", "cy", "cz", "centre unit"],
};
const ABOUT = "what it is";

export async function sheet(name, title) {
  let rows = [];
  let own = null;
  const inside = h("div", { class: "sheet" });
  const path = h("input", {
    value: freeName(name, ".yaml"),
    required: true,
    pattern: ".*\\.ya?ml",
  });
  const mirror = h("input", { type: "checkbox", onchange: action(load) });
  const messages = h("div", {});
  const { close, dialog: box } = dialog(
    title,
    h(
      "form",
      { onsubmit: action(create) },
      inside,
      h(
        "div",
        { class: "two" },
        field("Model file", path, "Ends in .yaml; the table is written beside it."),
        h(
          "label",
          { class: "check" },
          mirror,
          h("span", {}, "Both sides; the right one mirrors the left one"),
        ),
      ),
      messages,
      h("div", { class: "row end" }, h("button", { class: "primary" }, "Make the model")),
    ),
  );
  box.classList.add("broad");
  await action(load)();

  async function load() {
    const found = await get("template", { name, mirror: mirror.checked ? "1" : undefined });
    rows = parse(found.table);
    draw();
  }

  function draw() {
    fill(
      inside,
      own
        ? h(
            "p",
            {},
            "Points and masses come from ",
            h("b", {}, own),
            ". ",
            h(
              "button",
              { type: "button", class: "link", onclick: () => ((own = null), draw()) },
              "Use the table instead",
            ),
          )
        : [
            dropZone(
              "Drop your spreadsheet",
              "or choose it: .xlsx or .csv with the same names. Or change the numbers below.",
              ([first]) => ((own = first), draw()),
              ".xlsx,.csv",
            ),
            h(
              "p",
              {},
              h(
                "a",
                { href: sheetAddress(name, mirror.checked), download: "" },
                "The table as a spreadsheet (.xlsx)",
              ),
            ),
            tables(rows).map(grid),
          ],
    );
  }

  function grid({ names, rows: numbers }) {
    const kind = names[0];
    const columns = (SHOWN[kind] ?? names.slice(1)).filter((column) => names.includes(column));
    const cell = (k, column) => {
      const at = names.indexOf(column);
      const label = `${rows[k][0]}, ${column}`;
      const input = h("input", {
        value: rows[k][at] ?? "",
        "aria-label": label,
        class: /unit/.test(column) ? "unit" : "value",
        size: 6,
        oninput: () => (rows[k][at] = input.value),
      });
      return h("td", {}, input);
    };
    const about = names.indexOf(ABOUT);
    return table(
      [kind, ...columns, ...(about > 0 ? [ABOUT] : [])],
      numbers.map((k) =>
        h(
          "tr",
          {},
          h("th", { scope: "row" }, rows[k][0]),
          columns.map((c) => cell(k, c)),
          about > 0 ? h("td", { class: "soft" }, rows[k][about]) : null,
        ),
      ),
      "cells",
    );
  }

  async function create() {
    fill(messages);
    let table = own;
    if (!table) {
      table = freeName(path.value.replace(/\.ya?ml$/, "-hardpoints"), ".csv");
      await write(table, format(rows));
    }
    let made;
    try {
      made = await post("model/new", {
        from: `template:${name}`,
        path: path.value,
        hardpoints: table,
        mirror: mirror.checked,
      });
    } catch (error) {
      fill(messages, saidList([error], "bad"));
      return;
    } finally {
      await refreshFiles();
    }
    close();
    for (const warning of made.warnings ?? [])
      notice(String(warning.what ?? warning), "Check the table.");
    go("model", { model: made.path ?? path.value });
  }
}
