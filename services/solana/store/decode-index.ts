/** What a number in a row stands for. Throws a plain Error for one that stands for nothing: the row is another version's. */
export function decodeIndex(texts: readonly string[], number: number): string {
  const text = texts[number];
  if (text === undefined) throw new Error(`Cannot read a row: ${number} is none of ${texts.join(", ")}.`);
  return text;
}
