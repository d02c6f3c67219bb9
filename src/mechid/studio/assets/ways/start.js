// The beginning: a model from hardpoints, from the zoo, from another program, or from the folder.

import { post } from "../api.js";
import { fill, h, icon } from "../dom.js";
import { action, dialog, dropZone, head } from "../parts.js";
import { filesOf, freeName, go, refreshFiles, store } from "../store.js";
import { sheet } from "../sheet.js";

export async function start(host) {
  const models = filesOf("model");
  fill(
    host,
    head(
      "Model",
      "A mechanism: its bodies, joints and masses. Begin with one of these; everything is kept as files in this folder.",
    ),
    h(
      "div",
      { class: "body" },
      h(
        "div",
        { class: "cards" },
        card(
          "table",
          "From hardpoints",
          "A suspension or another template, and your table of points and masses.",
          chooseTemplate,
        ),
        card(
          "model",
          "From the zoo",
          `${store.state.zoo.length} mechanisms that are ready to use and to change.`,
          chooseZoo,
        ),
        card("up", "From a robot file", "URDF or MJCF, as other programs write it.", chooseImport),
      ),
      models.length
        ? h(
            "section",
            { class: "panel", "aria-label": "Models in this folder" },
            h("header", {}, h("h2", {}, "In this folder")),
            h(
              "ul",
              { class: "files roomy" },
              models.map(({ path }) =>
                h(
                  "li",
                  {},
                  h(
                    "button",
                    { type: "button", onclick: () => go("model", { model: path }) },
                    icon("model"),
                    h("span", {}, path),
                  ),
                ),
              ),
            ),
          )
        : null,
    ),
  );
}

function card(image, title, text, then) {
  return h(
    "button",
    { class: "card", type: "button", onclick: then },
    icon(image),
    h("b", {}, title),
    h("span", {}, text),
  );
}

function chooseZoo() {
  const entries = store.state.zoo.flatMap(({ name, title, variants }) => [
    { name, title },
    ...variants.map((v) => ({ name: `${name}@${v.name}`, title: v.title, variant: true })),
  ]);
  const search = h("input", {
    type: "search",
    placeholder: "Search",
    "aria-label": "Search the zoo",
    autofocus: true,
    oninput: () => draw(),
  });
  const list = h("div", { class: "zoo" });
  const { close } = dialog("Zoo", h("div", { class: "in" }, search, list));
  const open = (name) => {
    close();
    go("model", { model: `zoo:${name}` });
  };
  const draw = () => {
    const word = search.value.toLowerCase();
    const found = entries.filter((e) => `${e.name} ${e.title}`.toLowerCase().includes(word));
    fill(
      list,
      found.map(({ name, title, variant }) =>
        h(
          "button",
          {
            type: "button",
            class: variant ? "choice variant" : "choice",
            onclick: () => open(name),
          },
          h("b", {}, name),
          h("span", {}, title),
        ),
      ),
    );
  };
  draw();
}

function chooseImport() {
  const { close } = dialog(
    "From a robot file",
    h(
      "div",
      { class: "in" },
      dropZone(
        "Drop a URDF or MJCF file",
        "or choose it; meshes and included files with it",
        action(async ([first]) => bring(first)),
        ".urdf,.xml,.mjcf,.stl,.obj",
      ),
      filesOf("robot").length
        ? h(
            "ul",
            { class: "files roomy" },
            filesOf("robot").map(({ path }) =>
              h(
                "li",
                {},
                h(
                  "button",
                  { type: "button", onclick: action(() => bring(path)) },
                  icon("file"),
                  h("span", {}, path),
                ),
              ),
            ),
          )
        : null,
    ),
  );
  async function bring(file) {
    const path = freeName(file.replace(/^.*\//, "").replace(/\.[^.]*$/, ""), ".yaml");
    const made = await post("model/new", { from: `import:${file}`, path });
    await refreshFiles();
    close();
    go("model", { model: made.path ?? path });
  }
}

function chooseTemplate() {
  const { templates } = store.state;
  const search = h("div", { class: "zoo" });
  const { close } = dialog(
    "From hardpoints",
    h(
      "div",
      { class: "in" },
      h(
        "p",
        { class: "soft" },
        "A template says what is connected with what. Its table of points and masses is filled with example numbers; yours replace them.",
      ),
      search,
    ),
  );
  const open = (name, title) => {
    close();
    sheet(name, title);
  };
  fill(
    search,
    templates.map(({ name, title }) =>
      h(
        "button",
        { type: "button", class: "choice", onclick: () => open(name, title) },
        h("b", {}, name),
        h("span", {}, title),
      ),
    ),
  );
}
