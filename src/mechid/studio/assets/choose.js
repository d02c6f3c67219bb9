// What every way but the first begins with: the model it is about.

import { post } from "./api.js";
import { fill, h } from "./dom.js";
import { field, head, select } from "./parts.js";
import { filesOf, go, place, store } from "./store.js";

/** A list of the models of the folder, with the one of the address; another one opens the way anew. */
export function modelField(current) {
  const paths = filesOf("model").map(({ path }) => path);
  if (current && !paths.includes(current)) paths.unshift(current);
  const options = [["", "Choose a model"], ...paths.map((path) => [path, path])];
  const made = select(options, current ?? "", {
    onchange: () => go(place().way, { ...place().of, model: made.value }),
  });
  return field("Model", made);
}

/** The page of a way that is about one model: where its content and its buttons go. */
export function pageOf(host, title, text, model) {
  const inside = h("div", { class: "body" });
  const actions = h("div", { class: "row" });
  fill(
    host,
    head(title, text, actions),
    h("div", { class: "strip-fields" }, modelField(model)),
    inside,
  );
  fill(inside, waiting());
  return { inside, actions };
}

/** The model of the address, or the only one of the folder. */
export function chosenModel({ model }) {
  if (model) return model;
  const found = filesOf("model");
  return found.length === 1 ? found[0].path : null;
}

/** What a model has, or the error that says why it cannot be used. */
export async function summaryOf(path) {
  const found = await post("model/check", { path });
  if (!found.ok) throw found.errors[0];
  return found.summary;
}

const waiting = () =>
  h("section", { class: "panel" }, h("div", { class: "in center soft" }, "Reading the folder…"));

export const noModel = () =>
  h(
    "section",
    { class: "panel" },
    h(
      "div",
      { class: "in center" },
      h(
        "p",
        {},
        store.files.some((f) => f.kind === "model")
          ? "Choose a model first."
          : "There is no model in this folder yet.",
      ),
      h("a", { class: "button", href: "#/model" }, "To the models"),
    ),
  );
