// Tables that sort by the column whose heading is clicked: numbers as numbers, text as text.
"use strict";
(() => {
  const key = (row, k) => row.cells[k].dataset.value ?? row.cells[k].textContent;

  function compare(a, b) {
    const [x, y] = [Number(a), Number(b)];
    // Cells without a number come last, whatever the direction.
    if (a === "" || b === "" || a === "nan" || b === "nan") return null;
    return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b) : x - y;
  }

  function sort(table, k, heading) {
    const up = heading.getAttribute("aria-sort") !== "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", up ? "ascending" : "descending");
    const body = table.tBodies[0];
    const empty = (row) => ["", "nan"].includes(key(row, k));
    const rows = [...body.rows].sort((a, b) => {
      const order = compare(key(a, k), key(b, k));
      if (order === null) return Number(empty(a)) - Number(empty(b));
      return up ? order : -order;
    });
    body.append(...rows);
  }

  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((heading, k) => {
      heading.tabIndex = 0;
      heading.addEventListener("click", () => sort(table, k, heading));
      heading.addEventListener("keydown", (event) => {
        if (event.key === "Enter") sort(table, k, heading);
      });
    });
  }
})();
