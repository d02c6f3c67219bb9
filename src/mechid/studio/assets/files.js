// The files of the folder: a click opens each where it belongs; files dropped here are uploaded.

import { downloadAddress } from "./api.js";
import { fill, h, icon } from "./dom.js";
import { action, dialog, dropTarget, notice, take } from "./parts.js";
import { go, on, place, refreshFiles, store } from "./store.js";

const OPENS = {
  model: (path) => go("model", { model: path }),
  data: (path) => go("measure", { log: path }),
  mapping: (path) => showFile(path),
  trajectory: (path) => go("excite", { trajectory: path }),
  run: (path) => go("identify", { run: path }),
};
const ICONS = {
  model: "model",
  data: "data",
  table: "table",
  trajectory: "excite",
  run: "run",
  folder: "folder",
};

/** Other files can be downloaded. */
function showFile(path) {
  const { close } = dialog(
    path,
    h(
      "div",
      { class: "in" },
      h(
        "div",
        { class: "row" },
        h(
          "a",
          { class: "button", href: downloadAddress(path), download: "", onclick: () => close() },
          icon("down"),
          "Download",
        ),
      ),
    ),
  );
}

export function openFile(file) {
  (OPENS[file.kind] ?? showFile)(file.path);
}

const depth = (path) => path.split("/").length - 1;

/** Files inside a run belong to it and are not listed; folders stand above their files. */
function listed() {
  const runs = store.files.filter((file) => file.kind === "run").map((file) => `${file.path}/`);
  return store.files
    .filter((file) => !runs.some((run) => file.path.startsWith(run)))
    .sort((a, b) => a.path.localeCompare(b.path, "en", { numeric: true }));
}

export function showFiles(host, rail) {
  const list = h("ul", { class: "files" });
  const input = h("input", {
    type: "file",
    multiple: true,
    hidden: true,
    onchange: action(() => arrived(input.files)),
  });
  const arrived = async (files) => notice(`Uploaded: ${(await take(files)).join(", ")}`);
  const name = store.state.folder.replace(/\/+$/, "").replace(/^.*\//, "") || "Folder";
  fill(
    host,
    h(
      "div",
      { class: "folder-head" },
      h("h3", { title: store.state.folder }, name),
      h(
        "button",
        {
          class: "bare",
          type: "button",
          "aria-label": "Upload files",
          title: "Upload files",
          onclick: () => input.click(),
        },
        icon("up"),
      ),
      h(
        "button",
        {
          class: "bare",
          type: "button",
          "aria-label": "Read the folder again",
          title: "Read the folder again",
          onclick: action(refreshFiles),
        },
        icon("again"),
      ),
      input,
    ),
    list,
  );
  dropTarget(rail, (paths) => notice(`Uploaded: ${paths.join(", ")}`));
  const draw = () => {
    const { model, log, run, trajectory } = place().of;
    const open = { model, measure: log, identify: run, excite: trajectory }[place().way];
    const rows = listed().map((file) => {
      const label = file.path.replace(/^.*\//, "");
      const properties = {
        type: "button",
        class: file.kind === "other" ? "other" : null,
        title: file.path,
        "aria-current": file.path === open ? "true" : null,
        onclick: () => openFile(file),
      };
      const row =
        file.kind === "folder"
          ? h("a", {}, icon("folder"), h("span", {}, label))
          : h("button", properties, icon(ICONS[file.kind] ?? "file"), h("span", {}, label));
      row.style.paddingLeft = `${10 + 14 * depth(file.path)}px`;
      return h("li", {}, row);
    });
    const had = list.contains(document.activeElement) ? document.activeElement.title : null;
    fill(
      list,
      rows.length ? rows : h("li", { class: "empty" }, "This folder is empty. Start with a model."),
    );
    // A list that is drawn again must not take the focus away.
    if (had) [...list.querySelectorAll("button")].find((button) => button.title === had)?.focus();
  };
  draw();
  on("files", draw);
  on("place", draw);
  window.addEventListener("hashchange", draw);
}
