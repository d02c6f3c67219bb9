// Parts of pages: messages, fields, panels, dialogs, and a place to drop files.

import { upload } from "./api.js";
import { fill, h, icon } from "./dom.js";
import { refreshFiles } from "./store.js";

/** What an error says, in one element of a list. */
export function said(error, kind = "bad", action = null) {
  const where = [
    error.where,
    error.line && !String(error.where ?? "").includes(`line ${error.line}`)
      ? `line ${error.line}`
      : "",
  ];
  const place = where.filter(Boolean).join(", ");
  return h(
    "li",
    { class: kind },
    h("span", {}, place ? h("b", {}, `${place}: `) : null, error.what ?? String(error)),
    error.remedy ? h("small", {}, error.remedy) : null,
    action,
  );
}

export const saidList = (errors, kind) =>
  errors.length
    ? h(
        "ul",
        { class: "said" },
        errors.map((e) => said(typeof e === "string" ? { what: e } : e, kind)),
      )
    : null;

/** A message in the corner: what was done goes by itself, an error stays until it is closed. */
export function notice(text, error = null) {
  const close = h(
    "button",
    { class: "bare", "aria-label": "Close", onclick: () => box.remove() },
    icon("close"),
  );
  const box = h(
    "div",
    { class: error ? "notice bad" : "notice" },
    h("span", {}, text),
    error ? h("small", {}, error) : null,
    close,
  );
  document.getElementById("notices").append(box);
  if (!error) setTimeout(() => box.remove(), 4000);
}

export function complain(error) {
  notice(
    [error.where, error.what ?? error.message].filter(Boolean).join(": "),
    error.remedy || "\u00a0",
  );
}

/** Run what a button asks for; while it runs the button waits, and an error is shown. */
export function action(work) {
  return async (event) => {
    event?.preventDefault?.();
    const button = event?.currentTarget?.closest?.("button") ?? event?.submitter;
    if (button) button.disabled = true;
    try {
      await work(event);
    } catch (error) {
      complain(error);
    } finally {
      if (button) button.disabled = false;
    }
  };
}

let fields = 0;

/** A field with its name above and a hint below; `input` may be wrapped, as with its unit. */
export function field(label, input, hint = null) {
  const id = `hint-${(fields += 1)}`;
  if (hint)
    (input.matches("input, select") ? input : input.querySelector("input, select")).setAttribute(
      "aria-describedby",
      id,
    );
  return h(
    "div",
    { class: "field" },
    h("label", {}, h("b", {}, label), input),
    hint ? h("small", { id }, hint) : null,
  );
}

export function checkbox(label, properties = {}) {
  return h(
    "label",
    { class: "check" },
    h("input", { type: "checkbox", ...properties }),
    h("span", {}, label),
  );
}

/** A list to choose from: options are strings or [value, label]. */
export function select(options, value, properties = {}) {
  const made = h(
    "select",
    properties,
    options.map((option) => {
      const [key, label] = Array.isArray(option) ? option : [option, option];
      return h("option", { value: key, selected: key === value }, label);
    }),
  );
  return made;
}

export function withUnit(input, unit) {
  return h("span", { class: "unit-field" }, input, h("span", {}, unit));
}

export function panel(title, ...children) {
  return h(
    "section",
    { class: "panel", "aria-label": title },
    h("header", {}, h("h2", {}, title)),
    h("div", { class: "in" }, children),
  );
}

export function head(title, text, ...actions) {
  return h(
    "div",
    { class: "head" },
    h("div", {}, h("h1", {}, title), text ? h("p", {}, text) : null),
    actions,
  );
}

/** A table that scrolls on a narrow page; `body` is a tbody or its rows. */
export function table(heads, body, kind = null) {
  return h(
    "div",
    { class: "wide" },
    h(
      "table",
      { class: kind },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          heads.map((t) => h("th", { scope: "col" }, t)),
        ),
      ),
      Array.isArray(body) ? h("tbody", {}, body) : body,
    ),
  );
}

export function facts(entries) {
  return h(
    "dl",
    { class: "facts" },
    entries
      .filter(Boolean)
      .map(([term, value]) => h("div", {}, h("dt", {}, term), h("dd", {}, value))),
  );
}

export function tiles(entries) {
  return h(
    "dl",
    { class: "tiles" },
    entries.map(([term, value]) => h("div", {}, h("dt", {}, term), h("dd", {}, value))),
  );
}

/** A dialog with a title; returns {dialog, close}, and is removed when closed. */
export function dialog(title, ...children) {
  const made = h(
    "dialog",
    { "aria-label": title, onclose: () => made.remove() },
    h(
      "header",
      {},
      h("h2", {}, title),
      h(
        "button",
        { class: "bare", type: "button", "aria-label": "Close", onclick: () => made.close() },
        icon("close"),
      ),
    ),
    children,
  );
  document.body.append(made);
  made.showModal();
  return { dialog: made, close: () => made.close() };
}

/** Ask a question; whether the answer was yes. */
export function agreed(title, text, yes) {
  return new Promise((answer) => {
    const { dialog: box, close } = dialog(
      title,
      h(
        "div",
        { class: "in" },
        h("p", {}, text),
        h(
          "div",
          { class: "row end" },
          h(
            "button",
            { class: "primary", type: "button", onclick: () => (answer(true), close()) },
            yes,
          ),
        ),
      ),
    );
    box.addEventListener("close", () => answer(false));
  });
}

/** Upload files into the folder; returns their paths. */
export async function take(files) {
  const paths = [];
  for (const file of files) {
    try {
      paths.push((await upload(file)).path);
    } catch (error) {
      if (
        error.status !== 409 ||
        !(await agreed(`Replace ${file.name}?`, "A file of this name is in the folder.", "Replace"))
      )
        throw error;
      paths.push((await upload(file, true)).path);
    }
  }
  await refreshFiles();
  return paths;
}

/** A button that takes files: by dropping them on it, or from the dialog of the system. */
export function dropZone(title, text, then, accept = "") {
  const input = h("input", {
    type: "file",
    multiple: true,
    accept,
    hidden: true,
    onchange: action(async () => then(await take(input.files))),
  });
  const zone = h(
    "button",
    { type: "button", class: "drop", onclick: () => input.click() },
    icon("up"),
    h("b", {}, title),
    h("span", {}, text),
  );
  dropTarget(zone, then);
  return h("div", {}, zone, input);
}

export function dropTarget(element, then) {
  const over = (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    element.classList.add("dropping");
  };
  element.addEventListener("dragenter", over);
  element.addEventListener("dragover", over);
  element.addEventListener("dragleave", () => element.classList.remove("dropping"));
  element.addEventListener("drop", (event) => {
    event.preventDefault();
    element.classList.remove("dropping");
    action(async () => then(await take(event.dataTransfer.files)))();
  });
}

/** Wait for a promise in a place of the page, with a word, and show an error there. */
export async function into(host, promise, show) {
  try {
    fill(host, show(await promise));
  } catch (error) {
    fill(host, h("ul", { class: "said" }, said(error)));
  }
}
