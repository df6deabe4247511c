/** Answers as text to be read. */

/** Characters of an answer that a page shows. */
export const MAX_SHOWN = 100_000;

/**
 * JSON with a line a column and a row of a table, and a line a member of anything else. Other texts stay as they are.
 * @param {string} text
 * @returns {string}
 */
export function prettyAnswer(text) {
  /** @type {any} */
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    return text;
  }
  const table = Array.isArray(value) ? value[0] : value;
  if (!Array.isArray(table?.columns) || !Array.isArray(table.data)) return JSON.stringify(value, null, 2);
  const shown = `{\n  "columns": ${lines(table.columns)},\n  "data": ${lines(table.data)},\n  "rows": ${table.rows}\n}`;
  return Array.isArray(value) ? `[${shown}]` : shown;
}

/** @param {readonly unknown[]} items */
function lines(items) {
  return items.length === 0
    ? "[]"
    : `[\n${items.map((item) => `    ${JSON.stringify(item)}`).join(",\n")}\n  ]`;
}
