import {
  type AsOf,
  blockText,
  notKeptError,
  requireIndexed,
  sentAsOf,
} from "../../../shared/contract/as-of.ts";
import { headers } from "../../../shared/index/evm/headers.ts";
import type { Store } from "../../../shared/storage/port.ts";
import { type CheckpointRow, type EntityHistoryRow, entityHistory } from "../../store/collections.ts";
import { FORK_KIND, forkedAbove } from "../../store/fork-mark.ts";

/** The last block of an hour at which a state changed, or the last one of all. */
export type HourEnd = Pick<EntityHistoryRow, "block" | "blockHash" | "time" | "hour">;

interface Asked {
  readonly checkpoint: CheckpointRow;
  readonly asOf: AsOf;
}

const FIELDS = ["block", "blockHash", "time", "hour"] as const;
const HOUR = 3_600;
/** Hours that are looked through for one that is whole: forks over the end of an hour are rare. */
const MAX_LOOKS = 24;

/**
 * The block whose states answer for an earlier block or time. Of each entity the last state in an hour is stored, so that all
 * are known at the last change of each hour, and until the next hour with changes. Throws not_found for other blocks,
 * with the last one before that can be told.
 */
export async function findHourEnd(store: Store, { checkpoint, asOf }: Asked): Promise<HourEnd> {
  const { chainId, blockNumber, blockTime, fromBlock, fromTime } = checkpoint;
  const { name, value } = sentAsOf(asOf);
  requireIndexed(asOf, { block: blockNumber, time: blockTime });
  const last =
    name === "at_block"
      ? await lastChange(store, { chainId, block: value })
      : await lastChangeAt(store, { chainId, time: value, from: fromBlock, to: blockNumber });
  if (last === undefined) {
    throw notKeptError(
      asOf,
      `is below the first indexed block, ${blockText({ block: fromBlock, time: fromTime })}`,
    );
  }
  const next = await nextChange(store, { chainId, block: last.block });
  if (
    (await isWhole(store, { chainId, last, next })) &&
    (await isWithin(store, { chainId, asOf, last, next }))
  )
    return last;
  throw notKeptError(asOf, await nearestOf(store, { chainId, last, next }));
}

/** Whether nothing that lies between `last` and what was asked can have been replaced by a later state of its hour. */
async function isWithin(
  store: Store,
  { chainId, asOf, last, next }: { chainId: number; asOf: AsOf; last: HourEnd; next: HourEnd | undefined },
): Promise<boolean> {
  const { name, value } = sentAsOf(asOf);
  if (next === undefined || (name === "at_block" && value === last.block)) return true;
  const time = name === "at_time" ? value : (await store.get(headers, { chainId, number: value }))?.time;
  return time !== undefined && time - (time % HOUR) < next.hour;
}

/** Whether the states at a change are all stored: it is the last of its hour, and no fork has taken others away. */
async function isWhole(
  store: Store,
  { chainId, last, next }: { chainId: number; last: HourEnd; next: HourEnd | undefined },
): Promise<boolean> {
  if (next === undefined) return true;
  if (next.hour === last.hour) return false;
  const marks = await store.find(entityHistory, {
    filter: { chainId, kind: FORK_KIND, id: "", hour: { gt: last.hour } },
    order: [{ field: "hour", direction: "asc" }],
    limit: 1,
  });
  return !marks.some((mark) => mark.block <= next.block && forkedAbove(mark) >= last.block);
}

/** What can be told before. */
async function nearestOf(
  store: Store,
  at: { chainId: number; last: HourEnd; next: HourEnd | undefined },
): Promise<string> {
  const rule = "lies within an hour, of which only the last states are stored";
  let [last, next]: [HourEnd | undefined, HourEnd | undefined] = [at.last, at.next];
  for (let i = 0; i < MAX_LOOKS && last !== undefined; i++) {
    if (await isWhole(store, { chainId: at.chainId, last, next }))
      return `${rule}; the last block before it that can be told is ${blockText(last)}`;
    last = await lastChange(store, { chainId: at.chainId, block: last.block, before: last.hour });
    next = last && (await nextChange(store, { chainId: at.chainId, block: last.block }));
  }
  return `${rule}, and no block before it can be told`;
}

async function lastChange(
  store: Store,
  { chainId, block, before }: { chainId: number; block: number; before?: number },
): Promise<HourEnd | undefined> {
  const [row] = await store.find(entityHistory, {
    filter: { chainId, block: { lte: block }, ...(before !== undefined && { hour: { lt: before } }) },
    order: [{ field: "block", direction: "desc" }],
    limit: 1,
    fields: FIELDS,
  });
  return row;
}

async function nextChange(
  store: Store,
  { chainId, block }: { chainId: number; block: number },
): Promise<HourEnd | undefined> {
  const [row] = await store.find(entityHistory, {
    filter: { chainId, block: { gt: block } },
    order: [{ field: "block", direction: "asc" }],
    limit: 1,
    fields: FIELDS,
  });
  return row;
}

/** By halving: there is no index by time. */
async function lastChangeAt(
  store: Store,
  { chainId, time, from, to }: { chainId: number; time: number; from: number; to: number },
): Promise<HourEnd | undefined> {
  let [low, high] = [from, to + 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const row = await nextChange(store, { chainId, block: middle - 1 });
    if (row === undefined || row.time > time) high = middle;
    else low = row.block + 1;
  }
  return lastChange(store, { chainId, block: low - 1 });
}
