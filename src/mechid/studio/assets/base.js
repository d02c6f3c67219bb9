// Base parameters of the model in the editor: how many, which, and how inertia moves between bodies.

import { post } from "./api.js";
import { count, fill, h, latest } from "./dom.js";
import { said, table } from "./parts.js";

export class BasePanel {
  constructor() {
    this.chip = h("span", { class: "chip running" }, "computing");
    this.inside = h("div", { class: "in" });
    this.compute = latest((of, certify) => this.ask(of, certify));
    this.host = h(
      "section",
      { class: "panel", "aria-label": "Base parameters", hidden: true },
      h("header", {}, h("h2", {}, "Base parameters"), this.chip),
      this.inside,
    );
  }

  /** Ask about a model; while an answer is on its way, only the last question waits. */
  show(of, certify = false) {
    this.of = of;
    this.host.hidden = false;
    this.chip.className = "chip running";
    this.chip.textContent = "computing";
    return this.compute(of, certify);
  }

  async ask(of, certify) {
    let found;
    try {
      found = await post("model/base", { ...of, certify });
    } catch (error) {
      if (of !== this.of) return;
      this.chip.className = "chip bad";
      this.chip.textContent = "not found";
      fill(this.inside, h("ul", { class: "said" }, said(error)));
      return;
    }
    if (of !== this.of) return;
    const { rank, lower, upper, proved, base, transfers_svg: picture } = found;
    this.chip.className = proved ? "chip good" : "chip warn";
    this.chip.textContent = proved
      ? "number proved"
      : lower === null
        ? "not proved yet"
        : `between ${lower} and ${upper}`;
    const prove = h(
      "button",
      { type: "button", class: "link", onclick: () => this.show(of, true) },
      "Prove the number",
    );
    const combinations = table(["name", "unit", "meaning", "combination"], base.map(row));
    combinations.classList.add("base-table");
    fill(
      this.inside,
      h(
        "p",
        {},
        `${count(rank, "combination")} of the inertial parameters ${rank === 1 ? "acts" : "act"} on the forces; only these can be identified. `,
        proved || certify ? null : prove,
      ),
      combinations,
      picture
        ? h("details", {}, h("summary", {}, "How inertia moves between bodies"), diagram(picture))
        : null,
    );
  }
}

const row = ({ name, unit, meaning, expression }) =>
  h(
    "tr",
    {},
    h("th", { scope: "row" }, name),
    h("td", { class: "soft" }, unit),
    h("td", { class: "meaning" }, meaning),
    h("td", { class: "mono" }, expression),
  );

/** The diagram as a picture, not as a part of the page: names in it stay names. */
function diagram(svg) {
  const bytes = new TextEncoder().encode(svg);
  const source = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return h("img", {
    class: "diagram",
    alt: "Bodies, and the inertia that joints let pass between them",
    src: `data:image/svg+xml;base64,${source}`,
  });
}
