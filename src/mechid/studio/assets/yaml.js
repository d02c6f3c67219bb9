// Small records as YAML: mappings of channels, limits of a motion.

const PLAIN = /^[A-Za-z][A-Za-z0-9_]*$/;
const WORDS = /^(y|n|yes|no|on|off|true|false|null)$/i;

const scalar = (value) =>
  typeof value !== "string" || (PLAIN.test(value) && !WORDS.test(value))
    ? String(value)
    : JSON.stringify(value);

function flow(value) {
  if (Array.isArray(value)) return `[${value.map(flow).join(", ")}]`;
  if (value === null || typeof value !== "object") return scalar(value);
  const entries = Object.entries(value).map(([key, entry]) => `${scalar(key)}: ${flow(entry)}`);
  return `{${entries.join(", ")}}`;
}

const isRecord = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

/** Two levels of lines, everything below them in braces; nothing and empty records are left out. */
export function toYaml(record) {
  const lines = [];
  for (const [key, value] of Object.entries(record)) {
    if (value === undefined || (isRecord(value) && Object.keys(value).length === 0)) continue;
    if (
      isRecord(value) &&
      Object.values(value).some((entry) => isRecord(entry) || Array.isArray(entry))
    ) {
      lines.push(`${key}:`);
      for (const [name, entry] of Object.entries(value))
        lines.push(`  ${scalar(name)}: ${flow(entry)}`);
    } else lines.push(`${key}: ${flow(value)}`);
  }
  return `${lines.join("\n")}\n`;
}
