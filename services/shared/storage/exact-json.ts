/** Prefix of a bigint among JSON's strings; a string that begins with it gets it once more. */
const MARK = "#";

/** Plain data with bigints as text: JSON, in which bigints are strings of `#` and decimal digits. */
export function toExactJson(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => {
    if (typeof each === "bigint") return MARK + each;
    return typeof each === "string" && each.startsWith(MARK) ? MARK + each : each;
  });
}

/** Inverse of `toExactJson`. Throws SyntaxError for any other text. */
export function fromExactJson(text: string): unknown {
  return JSON.parse(text, (_, value: unknown) => {
    if (typeof value !== "string" || !value.startsWith(MARK)) return value;
    return value.startsWith(MARK + MARK) ? value.slice(MARK.length) : BigInt(value.slice(MARK.length));
  });
}
