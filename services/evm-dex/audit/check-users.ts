import { MINUTE } from "../metrics/bucket.ts";
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

/** How many senders swapped last in each minute that has any. */
export function lastSeenIn(last: LastMinutes): Map<number, number> {
  const seen = new Map<number, number>();
  for (const minute of last.values()) seen.set(minute, (seen.get(minute) ?? 0) + 1);
  return seen;
}

/** Users from the senders of swaps: previousMinute of rows, pool_users, and lastSeenUsers of minutes. */
export function userPass({ kept, pool, store }: PoolScope): PoolPass<HourWindow> {
  const { chainId, poolAddress } = pool;
  const last: LastMinutes = new Map();
  const since = kept.events.time;
  return {
    window: ({ rows }) => comparePreviousMinutes(pool, rows, last, since),
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
      const seen = lastSeenIn(last);
      const key = { chainId, poolAddress, span: MINUTE };
      const expected = minutes.map(({ start }) => ({ ...key, start, lastSeenUsers: seen.get(start) ?? 0 }));
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
