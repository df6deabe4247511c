import { setImmediate as nextTurn } from "node:timers/promises";
import { put, remove, type Store, type WriteStep } from "../../../shared/storage/port.ts";
import { HOUR, MINUTE, SPANS, startOf } from "../../metrics/bucket.ts";
import { readIntegers } from "../../protocols/integers.ts";
import { type PoolUserRow, poolUsers, type RollupRow } from "../../store/collections.ts";
import { getRollups, listPoolUsers } from "../../store/queries.ts";
import type { RemovedEvent } from "./removed.ts";

interface PoolKey {
  readonly chainId: number;
  readonly poolAddress: string;
}

export interface RepairedUsers {
  readonly steps: WriteStep[];
  /** Last minute of affected users after the repair, whatever is stored; null: none. */
  readonly after: ReadonlyMap<string, number | null>;
}

/**
 * The first removed swap of a user has the minute of the swap before. If that lies beyond the target, the rows before
 * it are missing: a write was killed before it wrote any user, or a rollback after it had repaired every user. Either
 * way the stored minute is right.
 * @param inOpenMinute users with a swap in the minute of the target, up to it
 */
export function repairUsers(
  { chainId, poolAddress }: PoolKey,
  {
    removed,
    openMinute,
    inOpenMinute,
  }: { removed: readonly RemovedEvent[]; openMinute: number; inOpenMinute: ReadonlySet<string> },
): RepairedUsers {
  const previous = new Map<string, number | null>();
  for (const event of [...removed].sort(byPlace)) {
    if (event.kind === "swap" && !previous.has(event.sender))
      previous.set(event.sender, event.previousMinute);
  }
  const after = new Map<string, number | null>();
  const kept: PoolUserRow[] = [];
  const gone: { chainId: number; poolAddress: string; user: string }[] = [];
  for (const [user, lastMinute] of previous) {
    const isKnown =
      lastMinute === null || lastMinute < openMinute || (lastMinute === openMinute && inOpenMinute.has(user));
    if (!isKnown) continue;
    after.set(user, lastMinute);
    if (lastMinute === null) gone.push({ chainId, poolAddress, user });
    else kept.push({ chainId, poolAddress, user, lastMinute });
  }
  return { steps: [put(poolUsers, kept), remove(poolUsers, gone)], after };
}

/** A closed bucket that users return to. */
export interface ReturnedBucket {
  readonly stored: RollupRow;
  readonly lastSeenUsers: number;
}

/**
 * Closed buckets that removed swaps took users out of, with the users that they have without these swaps. Users only ever leave a
 * closed bucket, and the first swap to take one out names how many there were. What is stored is never more: it is as much where
 * the swaps were not counted, or a killed rollback has repaired it, and then the rows that are left may not have the first.
 * So the most of these is right whatever a kill has left behind.
 * @param openStarts of the open buckets in the order of SPANS: closed ones start before
 */
export async function returnedBuckets(
  store: Store,
  key: PoolKey,
  {
    removed,
    openStarts,
    users,
  }: { removed: readonly RemovedEvent[]; openStarts: readonly number[]; users: RepairedUsers },
): Promise<ReturnedBucket[]> {
  const { chainId, poolAddress } = key;
  /** Undefined where a version that did not tell has written a swap. */
  const most = new Map<string, number | undefined>();
  for (const { kind, previousMinute, previousUsers } of removed) {
    if (kind !== "swap" || previousMinute === null) continue;
    const told = previousUsers === null ? [] : readIntegers(previousUsers).map(Number);
    SPANS.forEach((span, i) => {
      const start = startOf(previousMinute, span);
      if (start >= (openStarts[i] as number)) return;
      const name = nameOf({ span, start });
      const [known, own] = [most.has(name) ? most.get(name) : 0, told[i] ?? -1];
      most.set(name, known === undefined || own < 0 ? undefined : Math.max(known, own));
    });
  }
  const buckets = [...most.keys()].map((name) => ({ poolAddress, ...bucketOf(name) }));
  const rows = await getRollups(store, { chainId, buckets });
  const untold = rows.filter((row) => most.get(nameOf(row)) === undefined);
  const counted = untold.length === 0 ? undefined : await countUsers(store, key, users);
  return rows.map((stored) => {
    const name = nameOf(stored);
    const told = most.get(name);
    const lastSeenUsers =
      told === undefined ? (counted?.get(name) ?? 0) : Math.max(told, stored.lastSeenUsers);
    return { stored, lastSeenUsers };
  });
}

/**
 * Who was seen last in the open buckets, given without users of their own minute: the minute's are those of its swaps, since no
 * later swap is left; the hour's those of its minutes, the day's those of its hours.
 */
export function withUsers(
  open: readonly RollupRow[],
  {
    inOpenMinute,
    openStarts,
    returned,
  }: {
    inOpenMinute: ReadonlySet<string>;
    openStarts: readonly number[];
    returned: readonly ReturnedBucket[];
  },
): RollupRow[] {
  const [, openHour = 0] = openStarts;
  const gained = (span: number, from: number): number =>
    returned
      .filter(({ stored }) => stored.span === span && stored.start >= from)
      .reduce((sum, { stored, lastSeenUsers }) => sum + lastSeenUsers - stored.lastSeenUsers, 0);
  return open.map((row) => {
    let lastSeenUsers = row.lastSeenUsers + inOpenMinute.size;
    if (row.span >= HOUR) lastSeenUsers += gained(MINUTE, openHour);
    if (row.span > HOUR) lastSeenUsers += gained(HOUR, row.start);
    return { ...row, lastSeenUsers };
  });
}

/** Users by the bucket of their last swap after the repair: reads all of the pool, in small steps. */
async function countUsers(
  store: Store,
  key: PoolKey,
  { after }: RepairedUsers,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  const count = (minute: number) => {
    for (const span of SPANS) {
      const name = nameOf({ span, start: startOf(minute, span) });
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  };
  for await (const page of listPoolUsers(store, key)) {
    for (const { user, lastMinute } of page) if (!after.has(user)) count(lastMinute);
    // SQLite blocks the event loop: yield, so that the lease can be renewed.
    await nextTurn();
  }
  for (const minute of after.values()) if (minute !== null) count(minute);
  return counts;
}

function nameOf({ span, start }: { span: number; start: number }): string {
  return `${span}:${start}`;
}

function bucketOf(name: string): { span: number; start: number } {
  const [span = 0, start = 0] = name.split(":").map(Number);
  return { span, start };
}

function byPlace(a: RemovedEvent, b: RemovedEvent): number {
  return a.blockNumber - b.blockNumber || a.logIndex - b.logIndex;
}
