import { fromExactJson, toExactJson } from "../../shared/storage/exact-json.ts";
import type { EntityState } from "../protocols/protocol.ts";

/** Encodes an entity's state as text: JSON with bigints. */
export function toStateText(state: EntityState): string {
  return toExactJson(state);
}

/** Decodes the text of `toStateText`. Throws SyntaxError for any other text. */
export function fromStateText(text: string): EntityState {
  return fromExactJson(text) as EntityState;
}
