import { DAY, HOUR, MINUTE } from "../metrics/bucket.ts";
import { readIntegers } from "../protocols/integers.ts";
import { type PoolEventRow, type PoolRow, type RollupRow, rollups } from "../store/collections.ts";
import { compareRows } from "./compare-rows.ts";
import type { Finding } from "./finding.ts";
import type { HourWindow } from "./hours.ts";
import type { PoolPass, PoolScope } from "./scope.ts";

type Sums = Omit<RollupRow, "lastSeenUsers"> & Partial<Pick<RollupRow, "lastSeenUsers">>;

/** The minutes of a pool's swaps, given in the order of the chain; without users (check-users.ts). */
export function minutesOf(pool: PoolRow, rows: readonly PoolEventRow[]): Sums[] {
  const minutes = new Map<number, Sums>();
  for (const row of rows) {
    if (row.kind !== "swap") continue;
    const start = row.time - (row.time % MINUTE);
    const sums = minutes.get(start) ?? emptySums(pool, { span: MINUTE, start });
    minutes.set(start, {
      ...sums,
      swapCount: sums.swapCount + 1,
      volumeUsd: sums.volumeUsd + (row.valueUsd ?? 0),
      feesUsd: sums.feesUsd + (row.feeUsd ?? 0),
      unpricedCount: sums.unpricedCount + (row.valueUsd === null ? 1 : 0),
      unpricedFeeCount: sums.unpricedFeeCount + (row.feeUsd === null ? 1 : 0),
      tickTravel: sums.tickTravel + (row.tickTravel ?? 0),
      closePrice: priceOf(pool, row.state),
    });
  }
  return [...minutes.values()];
}

/** Hours from minutes, or days from hours, given in the order of time. */
export function longerOf(pool: PoolRow, rows: readonly RollupRow[], span: number): Sums[] {
  const longer = new Map<number, Sums>();
  for (const row of rows) {
    const start = row.start - (row.start % span);
    const sums = longer.get(start) ?? { ...emptySums(pool, { span, start }), lastSeenUsers: 0 };
    longer.set(start, {
      ...sums,
      swapCount: sums.swapCount + row.swapCount,
      volumeUsd: sums.volumeUsd + row.volumeUsd,
      feesUsd: sums.feesUsd + row.feesUsd,
      unpricedCount: sums.unpricedCount + row.unpricedCount,
      unpricedFeeCount: sums.unpricedFeeCount + row.unpricedFeeCount,
      tickTravel: sums.tickTravel + row.tickTravel,
      closePrice: row.closePrice,
      lastSeenUsers: (sums.lastSeenUsers ?? 0) + row.lastSeenUsers,
    });
  }
  return [...longer.values()];
}

/** Minutes against the swaps, hours against the minutes, days against the hours. */
export function rollupPass({ kept, pool, store }: PoolScope): PoolPass<HourWindow> {
  const { chainId, poolAddress } = pool;
  /** Buckets from a time on, but for those that are gone. */
  const compare = (stored: readonly RollupRow[], expected: readonly Sums[], since: number): Finding[] => {
    const isThere = ({ start }: Sums) => start >= since;
    const rows = { stored: stored.filter(isThere), expected: expected.filter(isThere) };
    return compareRows({ collection: rollups, pool: poolAddress, ...rows });
  };
  const minutesFrom = kept.buckets[MINUTE] ?? 0;
  const hoursFrom = Math.max(minutesFrom, kept.buckets[HOUR] ?? 0);
  const read = (span: number, { from, to }: Pick<HourWindow, "from" | "to">) =>
    store.find(rollups, {
      filter: { chainId, poolAddress, span, start: { gte: from, lt: to } },
      order: [{ field: "start", direction: "asc" }],
    });
  return {
    async window({ from, rows, to }) {
      const minutes = await read(MINUTE, { from, to });
      const hours = await read(HOUR, { from, to });
      const swaps = pool.protocol === "aerodrome-v2" ? [] : rows;
      return [
        ...compare(minutes, minutesOf(pool, swaps), minutesFrom),
        ...compare(hours, longerOf(pool, minutes, HOUR), hoursFrom),
      ];
    },
    async end() {
      const all = { from: 0, to: Number.MAX_SAFE_INTEGER };
      // Minutes outlive the events that they are the sums of.
      const older = { from: minutesFrom, to: kept.events.time };
      const hours = longerOf(pool, await read(MINUTE, older), HOUR);
      return [
        ...compare(await read(HOUR, older), hours, hoursFrom),
        ...compare(await read(DAY, all), longerOf(pool, await read(HOUR, all), DAY), kept.buckets[HOUR] ?? 0),
      ];
    },
  };
}

/** token1 per token0 in whole tokens: (sqrtPriceX96 / 2^96)² × 10^(decimals0 − decimals1). Source: Uniswap v3. */
function priceOf({ token0Decimals, token1Decimals }: PoolRow, state: string): number {
  const [sqrtPriceX96 = 0n] = readIntegers(state);
  return (Number(sqrtPriceX96) / 2 ** 96) ** 2 * 10 ** (token0Decimals - token1Decimals);
}

function emptySums({ chainId, poolAddress }: PoolRow, at: { span: number; start: number }): Sums {
  const none = { swapCount: 0, volumeUsd: 0, feesUsd: 0, unpricedCount: 0, unpricedFeeCount: 0 };
  return { chainId, poolAddress, ...at, ...none, tickTravel: 0, closePrice: 0 };
}
