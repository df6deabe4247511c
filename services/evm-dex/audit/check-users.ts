import { MINUTE, SPANS, startOf } from "../metrics/bucket.ts";
import { readIntegers, writeIntegers } from "../protocols/integers.ts";
import { type PoolEventRow, type PoolRow, poolUsers, rollups } from "../store/collections.ts";
import { compareRows } from "./compare-rows.ts";
import { compareNullable, type Finding } from "./finding.ts";
import type { HourWindow } from "./hours.ts";
import type { PoolPass, PoolScope } from "./scope.ts";

/** Start of the minute of each sender's last swap so far. */
type LastMinutes = Map<string, number>;

/** previousMinute of rows in the order of the chain, from the senders' earlier swaps; adds these to `last`. */
export function comparePreviousMinutes(
  pool: PoolRow,
  rows: readonly PoolEventRow[],
  last: LastMinutes,
  /** Swaps before are no longer stored: of a sender's first one since, the minute before is taken as it is. */
  since = 0,
): Finding[] {
  return rows.map((row) => {
    const isCounted = row.kind === "swap" && pool.protocol !== "aerodrome-v2";
    const { previousMinute } = row;
    const older = previousMinute !== null && previousMinute < since ? previousMinute : null;
    const expected = isCounted ? (last.get(row.sender) ?? older) : null;
    if (isCounted) last.set(row.sender, row.time - (row.time % MINUTE));
    return compareNullable(
      { pool: pool.poolAddress, at: `block ${row.blockNumber}, log ${row.logIndex}` },
      { field: "pool_events.previousMinute", stored: row.previousMinute, expected },
    );
  });
}

/** Who swapped last when, and how many of them in which bucket, by its span and start. */
export interface SeenUsers {
  readonly last: LastMinutes;
  readonly counts: Map<string, number>;
}

/**
 * previousUsers of rows in the order of the chain, from the senders' earlier swaps; adds these to `seen`. Counts of buckets
 * before `keptFrom`, of which not all is stored, are taken as they are, and so are rows of a version that did not tell.
 */
export function comparePreviousUsers(
  pool: PoolRow,
  rows: readonly PoolEventRow[],
  { counts, last }: SeenUsers,
  keptFrom: (span: number) => number = () => 0,
): Finding[] {
  const count = (bucket: string) => counts.get(bucket) ?? 0;
  /** Moves a sender to the buckets of a swap; returns the counts of those that it leaves. */
  const move = (row: PoolEventRow): bigint[] => {
    const told = row.previousUsers === null ? [] : readIntegers(row.previousUsers);
    const previous = last.get(row.sender) ?? row.previousMinute;
    last.set(row.sender, startOf(row.time, MINUTE));
    const left: bigint[] = [];
    for (const span of SPANS) {
      const to = startOf(row.time, span);
      const from = previous === null ? undefined : startOf(previous, span);
      if (from === to) continue;
      counts.set(`${span}:${to}`, count(`${span}:${to}`) + 1);
      if (from === undefined) continue;
      const users = count(`${span}:${from}`);
      left.push(from < keptFrom(span) ? (told[left.length] ?? -1n) : BigInt(users));
      counts.set(`${span}:${from}`, users - 1);
    }
    return left;
  };
  return rows.map((row) => {
    const isCounted = row.kind === "swap" && pool.protocol !== "aerodrome-v2";
    const left = isCounted ? move(row) : [];
    const expected = left.length === 0 ? null : row.previousUsers && writeIntegers(left);
    return compareNullable(
      { pool: pool.poolAddress, at: `block ${row.blockNumber}, log ${row.logIndex}` },
      { field: "pool_events.previousUsers", stored: row.previousUsers, expected },
    );
  });
}

/** How many senders swapped last in each minute that has any. */
export function lastSeenIn(last: LastMinutes): Map<number, number> {
  const seen = new Map<number, number>();
  for (const minute of last.values()) seen.set(minute, (seen.get(minute) ?? 0) + 1);
  return seen;
}

/** Users from the senders of swaps: previousMinute and previousUsers of rows, pool_users, and lastSeenUsers of minutes. */
export function userPass({ kept, pool, store }: PoolScope): PoolPass<HourWindow> {
  const { chainId, poolAddress } = pool;
  const last: LastMinutes = new Map();
  const seen: SeenUsers = { last: new Map(), counts: new Map() };
  const since = kept.events.time;
  const keptFrom = (span: number) => Math.max(since, kept.buckets[span] ?? 0);
  return {
    window: ({ rows }) => [
      ...comparePreviousMinutes(pool, rows, last, since),
      ...comparePreviousUsers(pool, rows, seen, keptFrom),
    ],
    async end() {
      const users = await store.find(poolUsers, { filter: { chainId, poolAddress } });
      const minutes = await store.find(rollups, {
        filter: {
          chainId,
          poolAddress,
          span: MINUTE,
          start: { gte: Math.max(since, kept.buckets[MINUTE] ?? 0) },
        },
        fields: ["start", "lastSeenUsers"],
      });
      const senders = lastSeenIn(last);
      const key = { chainId, poolAddress, span: MINUTE };
      const expected = minutes.map(({ start }) => ({
        ...key,
        start,
        lastSeenUsers: senders.get(start) ?? 0,
      }));
      return [
        ...compareRows({
          collection: poolUsers,
          pool: poolAddress,
          stored: users.filter(({ lastMinute, user }) => lastMinute >= since || last.has(user)),
          expected: [...last]
            .filter(([, lastMinute]) => lastMinute >= kept.users)
            .map(([user, lastMinute]) => ({ chainId, poolAddress, user, lastMinute })),
        }),
        ...compareRows({
          collection: rollups,
          pool: poolAddress,
          stored: minutes.map((row) => ({ ...key, ...row })),
          expected,
        }),
      ];
    },
  };
}
