// Completion of model files: what may stand at a place of a YAML file, by its JSON schema.
//
// A place is a list of keys from the top of the file (a number for an entry of a list), found from
// the indentation of the lines above and from the brackets of its own line.

const KEY = /^(\s*)((?:- +)*)(?:"([^"]*)"|'([^']*)'|([^\s:#{}[\],"'][^:#{}[\],]*?))\s*:(?:\s|$)/;

/** Keys above line `row` that hold it, outermost first, with `indent` the column of the place. */
function parents(lines, row, indent) {
  const keys = [];
  let limit = indent;
  for (let k = row - 1; k >= 0 && limit > 0; k -= 1) {
    const text = lines[k];
    if (!text.trim() || text.trim().startsWith("#")) continue;
    const match = KEY.exec(text);
    const dashes = match ? match[2] : (/^(\s*)((?:- +)*)/.exec(text)[2] ?? "");
    const column = /^\s*/.exec(text)[0].length;
    if (match && column + dashes.length < limit) {
      keys.unshift(match[3] ?? match[4] ?? match[5]);
      limit = column + dashes.length;
    }
    if (dashes && column < limit) {
      keys.unshift(0);
      limit = column;
    }
  }
  return keys;
}

/** Keys of the brackets that are open at the end of `text`, and whether a value stands there. */
function inside(text) {
  const stack = [{ kind: "block", key: null, index: 0 }];
  let word = "";
  let quote = "";
  for (const sign of text) {
    const top = stack.at(-1);
    if (quote) {
      if (sign === quote) quote = "";
      else word += sign;
    } else if (sign === '"' || sign === "'") quote = sign;
    else if (sign === "#" && (word === "" || word.endsWith(" "))) break;
    else if (sign === ":") {
      top.key = word.trim();
      word = "";
    } else if (sign === ",") {
      if (top.kind === "map") top.key = null;
      top.index += 1;
      word = "";
    } else if (sign === "{" || sign === "[") {
      stack.push({ kind: sign === "{" ? "map" : "list", key: null, index: 0 });
      word = "";
    } else if (sign === "}" || sign === "]") {
      if (stack.length > 1) stack.pop();
      word = "";
    } else word += sign;
  }
  const keys = [];
  for (const { kind, key, index } of stack) {
    if (kind === "list") keys.push(index);
    else if (key !== null) keys.push(key);
  }
  const last = stack.at(-1);
  return { keys, value: last.kind === "list" || last.key !== null, word: word.trim() };
}

/** Where the cursor stands: `{path, value, word}`; `value` is false where a key is being written. */
export function placeOf(text, row, column) {
  const lines = text.split("\n");
  const before = lines[row].slice(0, column);
  const [, blank, dashes] = /^(\s*)((?:- +)*)/.exec(before);
  const above = parents(lines, row, blank.length + (dashes ? 1 : 0));
  const items = dashes ? [0] : [];
  const here = inside(before.slice(blank.length + dashes.length));
  return { path: [...above, ...items, ...here.keys], value: here.value, word: here.word };
}

function expand(schema, root) {
  if (!schema || typeof schema !== "object") return [];
  if (schema.$ref) {
    const name = schema.$ref.replace("#/$defs/", "");
    return expand(root.$defs[name], root);
  }
  const parts = ["anyOf", "oneOf", "allOf"].flatMap((key) => schema[key] ?? []);
  return parts.length ? parts.flatMap((part) => expand(part, root)) : [schema];
}

function step(schema, key, root) {
  const found = [];
  if (typeof key === "number") {
    if (schema.prefixItems?.[key]) found.push(schema.prefixItems[key]);
    else if (schema.items) found.push(schema.items);
  } else if (schema.properties?.[key]) found.push(schema.properties[key]);
  else {
    for (const [pattern, part] of Object.entries(schema.patternProperties ?? {}))
      if (new RegExp(pattern, "u").test(key)) found.push(part);
    if (typeof schema.additionalProperties === "object") found.push(schema.additionalProperties);
  }
  return found.flatMap((part) => expand(part, root));
}

/** The names that a section of the file defines: keys of the second level below `section`. */
function namesIn(text, section) {
  const names = [];
  let within = false;
  let indent = 0;
  for (const line of text.split("\n")) {
    if (!line.trim() || line.trim().startsWith("#")) continue;
    const column = /^\s*/.exec(line)[0].length;
    if (column === 0) within = line.startsWith(`${section}:`);
    else if (within) {
      indent ||= column;
      const match = KEY.exec(line);
      if (match && column === indent) names.push(match[5] ?? match[4] ?? match[3]);
    }
    if (!within) indent = 0;
  }
  return names;
}

// Values that are names of the file itself, by the key that they belong to.
const NAMES = {
  between: ["ground", "bodies"],
  body: ["ground", "bodies"],
  joint: ["joints"],
  at: ["points"],
  from: ["points"],
  to: ["points"],
  origin: ["points"],
  points: ["points"],
  center: ["points"],
};

/** What may stand at the cursor: [{name, about, kind: "key" | "value"}]. */
export function complete(schema, text, row, column) {
  const { path, value } = placeOf(text, row, column);
  let here = expand(schema, schema);
  for (const key of path) here = here.flatMap((part) => step(part, key, schema));
  const found = new Map();
  const add = (name, about, kind) => found.has(name) || found.set(name, { name, about, kind });
  if (value) {
    for (const part of here)
      for (const choice of part.enum ?? (part.const === undefined ? [] : [part.const]))
        if (choice !== null) add(String(choice), part.title ?? "", "value");
    for (const part of here)
      if (part.type === "boolean") ["true", "false"].forEach((word) => add(word, "", "value"));
    const key = path.findLast((entry) => typeof entry === "string");
    for (const section of NAMES[key] ?? [])
      if (section === "ground") add("ground", "the fixed body", "value");
      else namesIn(text, section).forEach((name) => add(name, section, "value"));
  } else {
    for (const part of here)
      for (const [name, entry] of Object.entries(part.properties ?? {}))
        add(name, entry.description ?? "", "key");
  }
  return [...found.values()];
}
