// Model: the file in the editor, the mechanism beside it, and what it has.

import { get, post, write } from "../api.js";
import { BasePanel } from "../base.js";
import { fill, h, icon, later } from "../dom.js";
import { Editor } from "../editor.js";
import { Mechanism } from "../mechanism.js";
import { action, dialog, field, notice, said, tiles } from "../parts.js";
import { Sliders } from "../sliders.js";
import { freeName, go, refreshFiles, stemOf, store } from "../store.js";
import { start } from "./start.js";

const PAUSE = 350; // milliseconds without a key before the text is checked
const draftOf = (path) => `mechid-draft:${store.state.folder}:${path}`;

export async function model(host, { model: path }) {
  if (!path) return start(host);
  const isZoo = path.startsWith("zoo:");
  const file = await get("file", { path });
  const draft = sessionStorage.getItem(draftOf(path));
  let saved = file.text;
  let etag = file.etag;
  let asked = 0; // what is answered to an older question does not count

  const state = h("span", { class: "chip", role: "status" }, "checking");
  const messages = h("ul", { class: "said", "aria-label": "Messages", "aria-live": "polite" });
  const overview = h("div", {});
  const save = h(
    "button",
    { class: "primary", type: "button", onclick: action(keep) },
    isZoo ? "Save a copy…" : "Save",
  );
  const editor = new Editor({
    label: `Model file ${path}`,
    onchange: changed,
    onsave: action(keep),
  });
  editor.text = draft ?? saved;
  const mechanism = new Mechanism();
  const sliders = new Sliders(mechanism);
  const base = new BasePanel();
  const name = h("p", { class: "file-name" }, path);

  fill(
    host,
    h(
      "div",
      { class: "head" },
      h("div", {}, h("h1", {}, "Model"), name),
      state,
      h(
        "a",
        {
          class: "button",
          href: "#/model?",
          onclick: (event) => (event.preventDefault(), (location.hash = "#/model")),
        },
        icon("plus"),
        "Other model",
      ),
      save,
    ),
    h(
      "div",
      { class: "body workbench" },
      h(
        "div",
        { class: "desk" },
        h("section", { class: "panel editing", "aria-label": "Model file" }, editor.host),
        messages,
      ),
      h(
        "div",
        { class: "bench" },
        h("section", { class: "panel", "aria-label": "Mechanism" }, mechanism.host, sliders.host),
        overview,
        base.host,
      ),
    ),
  );

  function changed() {
    const differs = editor.text !== saved;
    save.disabled = !differs && !isZoo;
    name.textContent = differs ? `${path}, changed` : path;
    if (differs) sessionStorage.setItem(draftOf(path), editor.text);
    else sessionStorage.removeItem(draftOf(path));
    asked += 1;
    state.className = "chip running";
    state.textContent = "checking";
    check();
  }

  async function keep() {
    if (isZoo) return saveCopy(path, editor.text);
    const text = editor.text;
    const written = await write(path, text, etag);
    [saved, etag] = [text, written.etag];
    changed();
    notice(`Saved ${path}`);
    await refreshFiles();
  }

  const check = later(async () => {
    asked += 1;
    const mine = asked;
    const of = { path, text: editor.text };
    let found;
    try {
      found = await post("model/check", of);
    } catch (error) {
      found = { ok: false, errors: [error], warnings: [], summary: null };
    }
    if (mine !== asked) return;
    state.className = found.ok ? "chip good" : "chip bad";
    state.textContent = found.ok ? "valid" : "not valid";
    const warnings = found.warnings.map((w) => (typeof w === "string" ? { what: w } : w));
    editor.mark(found.errors, warnings);
    fill(messages, [
      ...found.errors.map((e) => said(e, "bad", lineButton(e))),
      ...warnings.map((w) => said(w, "warn", lineButton(w))),
    ]);
    if (!found.ok) return;
    showSummary(found.summary);
    const scene = await post("model/scene", of);
    if (mine !== asked) return;
    mechanism.show(scene);
    await sliders.show(found.summary, of);
    if (mine === asked) await base.show(of);
  }, PAUSE);

  const lineButton = (error) =>
    error.line
      ? h(
          "button",
          { type: "button", onclick: () => editor.goTo(error.line, error.column) },
          `Go to line ${error.line}`,
        )
      : null;

  function showSummary(summary) {
    const { bodies, joints, mobility, parameters } = summary;
    fill(
      overview,
      tiles([
        ["bodies", bodies.length],
        ["joints", joints.length],
        ["degrees of freedom", mobility],
        ["parameters", parameters],
      ]),
    );
    overview.className = "panel";
  }

  changed();
  const leaving = (event) => editor.text !== saved && !isZoo && event.preventDefault();
  window.addEventListener("beforeunload", leaving);
  return () => {
    window.removeEventListener("beforeunload", leaving);
    asked += 1;
    editor.close();
    mechanism.close();
  };
}

/** A model of the zoo is a file of the program: what is changed becomes a file of the folder. */
export function saveCopy(path, text) {
  const input = h("input", {
    value: freeName(stemOf(path), ".yaml"),
    required: true,
    pattern: ".*\\.ya?ml",
  });
  const { close } = dialog(
    "Save a copy",
    h(
      "form",
      {
        onsubmit: action(async () => {
          await write(input.value, text);
          await refreshFiles();
          close();
          go("model", { model: input.value });
        }),
      },
      field("File", input, "Ends in .yaml; the model of the zoo stays as it is."),
      h("div", { class: "row end" }, h("button", { class: "primary" }, "Save")),
    ),
  );
  input.select();
}
