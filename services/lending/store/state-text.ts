import { fromExactJson, toExactJson } from "../../shared/storage/exact-json.ts";
import type { UnitState } from "../protocols/protocol.ts";

/** A unit's state as text: JSON with its bigints. */
export function toStateText(state: UnitState): string {
  return toExactJson(state);
}

/** The state that `toStateText` wrote. Throws SyntaxError for any other text. */
export function fromStateText(text: string): UnitState {
  return fromExactJson(text) as UnitState;
}
