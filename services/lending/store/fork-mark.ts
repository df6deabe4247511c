import type { EntityHistoryRow } from "./collections.ts";
import { fromStateText, toStateText } from "./state-text.ts";

/**
 * A row of the history that is no entity's: a fork took states away that had replaced earlier ones of their hour. What is
 * read again goes to the hour of the new head; so the hour of the fork is not whole where that is a later one.
 */
export const FORK_KIND = "fork";

export function toForkMark(
  at: Omit<EntityHistoryRow, "kind" | "id" | "state">,
  { above }: { above: number },
): EntityHistoryRow {
  return { ...at, kind: FORK_KIND, id: "", state: toStateText(above) };
}

/** The last block that stayed. */
export function forkedAbove({ state }: Pick<EntityHistoryRow, "state">): number {
  return fromStateText(state) as number;
}
