import type { RowOf } from "../../../shared/storage/collection.ts";
import { removeWhere, type WriteStep } from "../../../shared/storage/port.ts";
import { SPANS } from "../../metrics/bucket.ts";
import { type poolEvents, rollups } from "../../store/collections.ts";

/** The block to roll back to: everything after it is undone. */
export interface RollbackTarget {
  readonly number: number;
  readonly hash: string;
  /** Unix seconds. */
  readonly time: number;
}

export const REMOVED_FIELDS = [
  "poolAddress",
  "kind",
  "sender",
  "previousMinute",
  "previousUsers",
  "blockNumber",
  "logIndex",
] as const;

/** The fields of a removed row that the repair needs: its sender, their swap before, and who was seen then. */
export type RemovedEvent = Pick<RowOf<typeof poolEvents>, (typeof REMOVED_FIELDS)[number]>;

/** Removes a pool's rollups from a start on, one start per span in the order of SPANS. */
export function removeRollupsFrom({
  chainId,
  poolAddress,
  starts,
}: {
  chainId: number;
  poolAddress: string;
  starts: readonly number[];
}): WriteStep[] {
  return SPANS.map((span, i) =>
    removeWhere(rollups, { chainId, poolAddress, span, start: { gte: starts[i] ?? 0 } }),
  );
}
