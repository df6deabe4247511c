import { DAY, HOUR } from "../metrics/bucket.ts";
import { readV2State } from "../protocols/aerodrome-v2/state.ts";
import { readIntegers, writeIntegers } from "../protocols/integers.ts";
import type { PoolEventRow, PoolRow } from "../store/collections.ts";
import { type V2LargeSwapsRow, type V2RollupRow, v2LargeSwaps, v2Rollups } from "../store/v2-collections.ts";
import { compareRows } from "./compare-rows.ts";
import type { HourWindow } from "./hours.ts";
import type { PoolPass, PoolScope } from "./scope.ts";

const LARGEST = 10;

/** The hours of a v2 pool's swaps. Growth is fee × 1e18 / supply of LP tokens. Source: Aerodrome Pool._update0. */
export function v2HoursOf(pool: PoolRow, rows: readonly PoolEventRow[]): V2RollupRow[] {
  return byStart(swapsOf(rows), HOUR, (row) => row.time).map(([start, swaps]) => {
    const usdOf = (isWanted: boolean) =>
      swaps.reduce((sum, row) => sum + (isZeroForOne(row) === isWanted ? (row.valueUsd ?? 0) : 0), 0);
    const parts = swaps.map((row) => {
      const [amount0 = 0n, amount1 = 0n] = readIntegers(row.amounts);
      const { swapFee0, swapFee1, totalSupply } = readV2State(row.state);
      const growth = (fee: bigint) => (totalSupply === 0n ? 0n : (fee * 10n ** 18n) / totalSupply);
      return [abs(amount0), abs(amount1), swapFee0, swapFee1, growth(swapFee0), growth(swapFee1)];
    });
    return {
      ...{ chainId: pool.chainId, poolAddress: pool.poolAddress, span: HOUR, start },
      swapCount: swaps.length,
      unpricedCount: swaps.reduce(
        (n, row) => n + Number(row.valueUsd === null) + Number(row.feeUsd === null),
        0,
      ),
      zeroForOneUsd: usdOf(true),
      oneForZeroUsd: usdOf(false),
      feesUsd: swaps.reduce((sum, row) => sum + (row.feeUsd ?? 0), 0),
      amounts: writeIntegers(sumColumns(parts)),
    };
  });
}

/** Days from hours. */
export function v2DaysOf(pool: PoolRow, hours: readonly V2RollupRow[]): V2RollupRow[] {
  return byStart(hours, DAY, (row) => row.start).map(([start, rows]) => {
    const sum = (name: "swapCount" | "unpricedCount" | "zeroForOneUsd" | "oneForZeroUsd" | "feesUsd") =>
      rows.reduce((total, row) => total + row[name], 0);
    return {
      ...{ chainId: pool.chainId, poolAddress: pool.poolAddress, span: DAY, start },
      swapCount: sum("swapCount"),
      unpricedCount: sum("unpricedCount"),
      zeroForOneUsd: sum("zeroForOneUsd"),
      oneForZeroUsd: sum("oneForZeroUsd"),
      feesUsd: sum("feesUsd"),
      amounts: writeIntegers(sumColumns(rows.map((row) => readIntegers(row.amounts)))),
    };
  });
}

/** The ten largest swaps of each hour: by value, unpriced ones last, the earlier first of two that are equal. */
export function largeSwapsOf(pool: PoolRow, rows: readonly PoolEventRow[]): V2LargeSwapsRow[] {
  return byStart(swapsOf(rows), HOUR, (row) => row.time).map(([start, swaps]) => ({
    chainId: pool.chainId,
    poolAddress: pool.poolAddress,
    start,
    // Stable: rows come in the order of the chain.
    swaps: [...swaps]
      .sort((a, b) => (b.valueUsd ?? -1) - (a.valueUsd ?? -1))
      .slice(0, LARGEST)
      .map((row) => {
        const { blockNumber, logIndex, time, txHash, valueUsd } = row;
        return { valueUsd, blockNumber, logIndex, time, txHash, zeroForOne: isZeroForOne(row) };
      }),
  }));
}

/** Hours and large swaps of v2 pools against their swaps, days against the hours. */
export function v2RollupPass({ kept, pool, store }: PoolScope): PoolPass<HourWindow> {
  const { chainId, poolAddress } = pool;
  const read = (span: number, { from, to }: Pick<HourWindow, "from" | "to">) =>
    store.find(v2Rollups, { filter: { chainId, poolAddress, span, start: { gte: from, lt: to } } });
  return {
    async window({ from, rows, to }) {
      const own = pool.protocol === "aerodrome-v2" ? rows : [];
      const swaps = await store.find(v2LargeSwaps, {
        filter: { chainId, poolAddress, start: { gte: from, lt: to } },
      });
      return [
        ...compareRows({
          collection: v2Rollups,
          pool: poolAddress,
          stored: (await read(HOUR, { from, to })).filter(isThere(kept.v2Hours)),
          expected: v2HoursOf(pool, own).filter(isThere(kept.v2Hours)),
        }),
        ...compareRows({
          collection: v2LargeSwaps,
          pool: poolAddress,
          stored: swaps.filter(isThere(kept.largeSwaps)),
          expected: largeSwapsOf(pool, own).filter(isThere(kept.largeSwaps)),
        }),
      ];
    },
    async end() {
      const all = { from: 0, to: Number.MAX_SAFE_INTEGER };
      return compareRows({
        collection: v2Rollups,
        pool: poolAddress,
        stored: (await read(DAY, all)).filter(isThere(kept.v2Hours)),
        expected: v2DaysOf(pool, await read(HOUR, all)).filter(isThere(kept.v2Hours)),
      });
    },
  };
}

function isThere(since: number) {
  return ({ start }: { readonly start: number }) => start >= since;
}

function swapsOf(rows: readonly PoolEventRow[]): PoolEventRow[] {
  return rows.filter((row) => row.kind === "swap");
}

function isZeroForOne(row: PoolEventRow): boolean {
  return (readIntegers(row.amounts)[0] ?? 0n) > 0n;
}

function byStart<T>(rows: readonly T[], span: number, timeOf: (row: T) => number): [number, T[]][] {
  const groups = new Map<number, T[]>();
  for (const row of rows) {
    const time = timeOf(row);
    const start = time - (time % span);
    const group = groups.get(start);
    if (group === undefined) groups.set(start, [row]);
    else group.push(row);
  }
  return [...groups];
}

function sumColumns(rows: readonly (readonly bigint[])[]): bigint[] {
  return (rows[0] ?? []).map((_, i) => rows.reduce((sum, row) => sum + (row[i] ?? 0n), 0n));
}

function abs(amount: bigint): bigint {
  return amount < 0n ? -amount : amount;
}
