/** The text for a number in a row. Throws a plain Error for an unknown one: another version wrote the row. */
export function decodeIndex(texts: readonly string[], number: number): string {
  const text = texts[number];
  if (text === undefined)
    throw new Error(`Cannot read a row: ${number} is not the number of ${texts.join(", ")}.`);
  return text;
}
