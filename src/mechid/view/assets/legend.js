// Lists of what is drawn; a click on an entry hides or shows it, the pointer over it lights it up.

export function swatch(color, className = "swatch") {
  const made = document.createElement("span");
  made.className = className;
  made.style.setProperty("--color", color);
  return made;
}

/**
 * Add a list to the legend.
 *
 * entries: {label, detail, mark (element), items}; an item has `objects`; `light(items)` lights
 * items up (none: back to normal) and `redraw()` asks for a new picture.
 */
export function addLegend(host, title, entries, { light, redraw }) {
  if (entries.length === 0) return;
  const section = document.createElement("section");
  const heading = document.createElement("h2");
  heading.textContent = title;
  section.append(heading);
  for (const { label, detail, mark, items } of entries) {
    const row = document.createElement("button");
    row.type = "button";
    row.className = "row";
    row.setAttribute("aria-pressed", "true");
    row.setAttribute("aria-label", `Show ${title.toLowerCase()}: ${label}`);
    const text = document.createElement("span");
    text.className = "label";
    text.textContent = label;
    const note = document.createElement("span");
    note.className = "detail";
    note.textContent = detail;
    row.append(mark, text, note);
    row.addEventListener("click", () => {
      const shown = row.getAttribute("aria-pressed") !== "true";
      row.setAttribute("aria-pressed", String(shown));
      for (const item of items) for (const object of item.objects) object.visible = shown;
      redraw();
    });
    row.addEventListener("pointerenter", () => light(items));
    row.addEventListener("pointerleave", () => light([]));
    section.append(row);
  }
  host.append(section);
}
