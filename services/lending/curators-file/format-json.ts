const WIDTH = 110;

/** JSON as the repository's formatter lays it out: a list of texts or numbers on one line where it fits. */
export function formatJson(value: unknown): string {
  return `${render(value, { indent: "", before: 0 })}\n`;
}

/** @param place.before characters on the line before the value */
function render(value: unknown, place: { indent: string; before: number }): string {
  const { indent, before } = place;
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    const isFlat = value.every((item) => typeof item !== "object" || item === null);
    const line = `[${value.map((item) => JSON.stringify(item)).join(", ")}]`;
    // One more for the comma that may follow.
    if (value.length === 0 || (isFlat && before + line.length + 1 <= WIDTH)) return line;
    const items = value.map((item) => `${inner}${render(item, { indent: inner, before: inner.length })}`);
    return `[\n${items.join(",\n")}\n${indent}]`;
  }
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).map(([name, field]) => {
    const head = `${inner}${JSON.stringify(name)}: `;
    return `${head}${render(field, { indent: inner, before: head.length })}`;
  });
  return fields.length === 0 ? "{}" : `{\n${fields.join(",\n")}\n${indent}}`;
}
