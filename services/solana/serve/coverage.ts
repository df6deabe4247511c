import type { CheckpointRow } from "../store/collections.ts";

/**
 * The first second (Unix) from which on everything is indexed: earlier blocks of the first indexed second may be
 * missing. 0 if the chain is indexed from its first slot on.
 */
export function findCoveredFrom({ fromSlot, fromTime }: CheckpointRow): number {
  return fromSlot === 0 ? 0 : fromTime + 1;
}
