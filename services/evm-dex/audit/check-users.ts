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
): Finding[] {
  return rows.map((row) => {
    const isCounted = row.kind === "swap" && pool.protocol !== "aerodrome-v2";
    const expected = isCounted ? (last.get(row.sender) ?? null) : null;
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
export function userPass({ pool, store }: PoolScope): PoolPass<HourWindow> {
  const { chainId, poolAddress } = pool;
  const last: LastMinutes = new Map();
  return {
    window: ({ rows }) => comparePreviousMinutes(pool, rows, last),
    async end() {
      const users = await store.find(poolUsers, { filter: { chainId, poolAddress } });
      const minutes = await store.find(rollups, {
        filter: { chainId, poolAddress, span: MINUTE },
        fields: ["start", "lastSeenUsers"],
      });
      const seen = lastSeenIn(last);
      const key = { chainId, poolAddress, span: MINUTE };
      const expected = minutes.map(({ start }) => ({ ...key, start, lastSeenUsers: seen.get(start) ?? 0 }));
      return [
        ...compareRows({
          collection: poolUsers,
          pool: poolAddress,
          stored: users,
          expected: [...last].map(([user, lastMinute]) => ({ chainId, poolAddress, user, lastMinute })),
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
