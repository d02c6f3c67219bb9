// The editor of model files: Ace, with completion from the schema and messages at their lines.

import { get } from "./api.js";
import { h } from "./dom.js";
import { on } from "./store.js";
import { complete } from "./schema.js";

const { ace } = window;
ace.config.set("useStrictCSP", true); // its style sheet is a link of the page
ace.config.set("loadWorkerFromBlob", false);

let schema = null;

const completer = {
  identifierRegexps: [/[A-Za-z0-9_.-]/],
  getCompletions(editor, session, { row, column }, prefix, callback) {
    const comment = session.getTokenAt(row, column)?.type.startsWith("comment");
    const wanted = schema && editor.studio && !comment;
    const found = wanted ? complete(schema, session.getValue(), row, column) : [];
    callback(
      null,
      found.map(({ name, about, kind }) => ({
        caption: name,
        value: kind === "key" ? `${name}: ` : name,
        meta: about.length > 40 ? `${about.slice(0, 38)}…` : about,
        score: 10,
      })),
    );
  },
};
ace.require("ace/ext/language_tools").setCompleters([completer]);

const theme = () => {
  const isDark =
    getComputedStyle(document.documentElement).colorScheme === "dark" ||
    (!document.documentElement.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
  return { cssClass: "ace-studio", cssText: "", isDark };
};

/** An editor for YAML; `onchange` is told of every change, `onsave` of Ctrl+S. */
export class Editor {
  constructor({ label, onchange, onsave }) {
    this.host = h("div", { class: "editor" });
    const editor = ace.edit(this.host, {
      mode: "ace/mode/yaml",
      useWorker: false,
      tabSize: 2,
      useSoftTabs: true,
      showPrintMargin: false,
      fontSize: 13,
      fontFamily: "var(--mono)",
      scrollPastEnd: 0.3,
      showFoldWidgets: true,
      highlightActiveLine: true,
      enableBasicAutocompletion: true,
      enableLiveAutocompletion: true,
      enableKeyboardAccessibility: true,
      fixedWidthGutter: true,
    });
    editor.studio = true;
    editor.setTheme(theme());
    editor.textInput.setAriaOptions({ activeDescendant: "", role: "textbox" });
    editor.textInput.getElement().setAttribute("aria-label", label);
    editor.renderer.scroller.setAttribute(
      "aria-label",
      `${label}; press Enter to edit, Escape to leave`,
    );
    editor.commands.addCommand({
      name: "save",
      bindKey: { win: "Ctrl-S", mac: "Cmd-S" },
      exec: onsave,
    });
    editor.session.on("change", () => this.quiet || onchange());
    this.editor = editor;
    this.forget = on("theme", () => editor.setTheme(theme()));
    new ResizeObserver(() => editor.resize()).observe(this.host);
    schema ??
      get("schema")
        .then((found) => (schema = found))
        .catch(() => {});
  }

  get text() {
    return this.editor.getValue();
  }

  /** Other text, as a new file: it cannot be undone into the one before. */
  set text(text) {
    this.quiet = true;
    this.editor.session.setValue(text);
    this.quiet = false;
  }

  set readOnly(value) {
    this.editor.setReadOnly(value);
  }

  /** Errors and warnings at their lines, which count from 1. */
  mark(errors, warnings) {
    const note = (kind) => (error) => ({
      row: Math.max((error.line ?? 1) - 1, 0),
      column: Math.max((error.column ?? 1) - 1, 0),
      text: [error.what, error.remedy].filter(Boolean).join("\n"),
      type: kind,
    });
    const notes = [
      ...errors.map(note("error")),
      ...warnings.filter((w) => w.line).map(note("warning")),
    ];
    const { session } = this.editor;
    session.setAnnotations(notes);
    for (const id of this.lines ?? []) session.removeMarker(id);
    const { Range } = ace.require("ace/range");
    this.lines = notes.map(({ row, type }) =>
      session.addMarker(new Range(row, 0, row, 1), `studio-${type}`, "fullLine"),
    );
  }

  goTo(line, column = 1) {
    this.editor.gotoLine(line, Math.max(column - 1, 0), false);
    this.editor.focus();
  }

  close() {
    this.forget();
    this.editor.destroy();
  }
}
