import type { UnitState } from "../protocols/protocol.ts";

/** Marks a bigint among JSON's strings; a string that begins with it is marked once more. */
const MARK = "#";

/** A unit's state as text: JSON, in which bigints are strings of `#` and decimal digits. */
export function toStateText(state: UnitState): string {
  return JSON.stringify(state, (_, value: unknown) => {
    if (typeof value === "bigint") return MARK + value;
    return typeof value === "string" && value.startsWith(MARK) ? MARK + value : value;
  });
}

/** The state that `toStateText` wrote. Throws SyntaxError for any other text. */
export function fromStateText(text: string): UnitState {
  return JSON.parse(text, (_, value: unknown) => {
    if (typeof value !== "string" || !value.startsWith(MARK)) return value;
    return value.startsWith(MARK + MARK) ? value.slice(MARK.length) : BigInt(value.slice(MARK.length));
  });
}
