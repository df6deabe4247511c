import type { Window } from "../../../shared/contract/window.ts";
import type { Store } from "../../../shared/storage/port.ts";
import type { CheckpointRow } from "../../store/collections.ts";
import { firstSlotFrom } from "../../store/queries.ts";
import type { SlotInterval } from "./paging.ts";

/** The slots of a time window with retained rows, up to the checkpoint; undefined without any. */
export async function findSlots(
  store: Store,
  query: { checkpoint: CheckpointRow; window: Window },
): Promise<SlotInterval | undefined> {
  const { checkpoint } = query;
  const { afterTime, beforeTime } = query.window;
  if (afterTime > checkpoint.time || beforeTime <= checkpoint.rowsFromTime) return undefined;
  const { rowsFromSlot, rowsFromTime, slot } = checkpoint;
  const from = afterTime <= rowsFromTime ? rowsFromSlot : await firstSlotFrom(store, afterTime);
  const end = beforeTime > checkpoint.time ? slot + 1 : await firstSlotFrom(store, beforeTime);
  if (from === undefined) return undefined;
  const range = { fromSlot: Math.max(from, rowsFromSlot), toSlot: Math.min((end ?? slot + 1) - 1, slot) };
  return range.fromSlot <= range.toSlot ? range : undefined;
}
