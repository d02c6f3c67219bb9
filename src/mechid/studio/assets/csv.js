// Tables of hardpoints: comma-separated text, with comments and several tables in one file.

/** Rows of cells; quotes hold commas, quotes and line ends. */
export function parse(text) {
  const rows = [];
  let row = [];
  let cell = "";
  let quoted = false;
  const source = text.replace(/^\ufeff/, "");
  for (let i = 0; i < source.length; i += 1) {
    const sign = source[i];
    if (quoted) {
      if (sign !== '"') cell += sign;
      else if (source[i + 1] === '"') {
        cell += sign;
        i += 1;
      } else quoted = false;
    } else if (sign === '"' && cell === "") quoted = true;
    else if (sign === "," || sign === "\n") {
      row.push(cell.replace(/\r$/, ""));
      cell = "";
      if (sign === "\n") {
        rows.push(row);
        row = [];
      }
    } else cell += sign;
  }
  if (cell !== "" || row.length) rows.push([...row, cell]);
  return rows;
}

const quote = (cell) => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

export const format = (rows) => rows.map((row) => row.map(quote).join(",")).join("\n") + "\n";

/** The tables of a file: each is its names and the numbers of its rows, between empty lines. */
export function tables(rows) {
  const found = [];
  let open = null;
  rows.forEach((row, k) => {
    if (row.every((cell) => cell.trim() === "")) open = null;
    else if (row[0].startsWith("#")) return;
    else if (open) open.rows.push(k);
    else found.push((open = { names: row, rows: [] }));
  });
  return found;
}
