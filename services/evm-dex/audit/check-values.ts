import type { TokenPrice } from "../price/link.ts";
import { readV2State } from "../protocols/aerodrome-v2/state.ts";
import { readIntegers } from "../protocols/integers.ts";
import { readState } from "../protocols/v3/state.ts";
import { type PoolEventRow, type PoolRow, poolEvents } from "../store/collections.ts";
import { readPrices } from "../store/price-links.ts";
import { compareRows } from "./compare-rows.ts";
import { type Finding, requireThat } from "./finding.ts";
import type { HourWindow } from "./hours.ts";
import { type PoolPass, type PoolScope, sampleInOrder } from "./scope.ts";
import { boundedUsd } from "./slow-prices.ts";

/** USD values are stored as multiples of this. */
export const USD_STEP = 2 ** -20;

/** Whole tokens, into the pool positive, and USD per token. */
export interface PricedSwap {
  readonly amount0: number;
  readonly amount1: number;
  readonly price0Usd: number | null;
  readonly price1Usd: number | null;
}

/**
 * valueUsd and feeUsd of a row from what its tokens are valued with, by the formulas in the endpoints' descriptions. Undefined where
 * the row lacks what the formula needs: the protocol's part of PancakeSwap's fees is in the log (check-logs.ts).
 */
export function usdOf(
  pool: PoolRow,
  row: PoolEventRow,
  prices: readonly [number | null, number | null] = [row.price0Usd, row.price1Usd],
): { valueUsd: number | null; feeUsd: number | null | undefined } {
  if (row.kind !== "swap") return { valueUsd: null, feeUsd: null };
  const swap = { ...amountsOf(pool, row), price0Usd: prices[0], price1Usd: prices[1] };
  if (pool.protocol === "aerodrome-v2") {
    const { swapFee0, swapFee1 } = readV2State(row.state);
    const value = bothUsd(swap, { side0: Math.abs(swap.amount0), side1: Math.abs(swap.amount1) });
    const side0 = Number(swapFee0) / 10 ** pool.token0Decimals;
    const side1 = Number(swapFee1) / 10 ** pool.token1Decimals;
    return {
      valueUsd: rounded(value === null ? null : value / 2),
      feeUsd: rounded(bothUsd(swap, { side0, side1 })),
    };
  }
  const valueUsd = swapUsdOf(swap);
  if (pool.protocol === "slipstream") return { valueUsd: rounded(valueUsd), feeUsd: null };
  if (pool.protocol !== "uniswap-v3") return { valueUsd: rounded(valueUsd), feeUsd: undefined };
  const { feeProtocol } = readState(row.state);
  const n = swap.amount0 > 0 ? feeProtocol % 16 : feeProtocol >> 4;
  const valueIn = valueInOf(swap);
  const fee = valueIn === null ? null : ((valueIn * pool.fee) / 1e6) * (n === 0 ? 1 : 1 - 1 / n);
  return { valueUsd: rounded(valueUsd), feeUsd: rounded(fee) };
}

/** Whole tokens, into the pool positive. */
export function amountsOf(pool: PoolRow, row: PoolEventRow): Pick<PricedSwap, "amount0" | "amount1"> {
  const [raw0 = 0n, raw1 = 0n] = readIntegers(row.amounts);
  return {
    amount0: Number(raw0) / 10 ** pool.token0Decimals,
    amount1: Number(raw1) / 10 ** pool.token1Decimals,
  };
}

/** What a swap's tokens are valued with: their prices, bounded by what supports them (slow-prices.ts). */
export function valuedWith(
  pool: PoolRow,
  row: PoolEventRow,
  prices: ReadonlyMap<string, TokenPrice>,
): [number | null, number | null] {
  const { amount0, amount1 } = amountsOf(pool, row);
  const sideOf = (amount: number, price: TokenPrice | undefined) => {
    const support = price?.link?.support;
    const outside = support?.pool === pool.poolAddress ? support.restUsd : support?.depthUsd;
    const supportUsd = price === undefined ? 0 : (outside ?? Number.POSITIVE_INFINITY);
    return { amount: Math.abs(amount), usd: price?.usd ?? null, supportUsd };
  };
  const side0 = sideOf(amount0, prices.get(pool.token0Address));
  return boundedUsd(side0, sideOf(amount1, prices.get(pool.token1Address)), Math.abs(amount1 / amount0));
}

/** USD of what came in; of the whole swap where only the other token has a price. */
export function valueInOf(swap: PricedSwap): number | null {
  const [amount, price] = swap.amount0 > 0 ? [swap.amount0, swap.price0Usd] : [swap.amount1, swap.price1Usd];
  return price === null ? swapUsdOf(swap) : amount * price;
}

/** To the stored step; null where unknown or absurd. */
export function rounded(usd: number | null): number | null {
  return usd === null || !Number.isFinite(usd) ? null : Math.round(usd / USD_STEP) * USD_STEP;
}

/** The mean of both sides, or the one that has a price. */
function swapUsdOf({ amount0, amount1, price0Usd, price1Usd }: PricedSwap): number | null {
  const sides = [
    price0Usd === null ? null : Math.abs(amount0) * price0Usd,
    price1Usd === null ? null : Math.abs(amount1) * price1Usd,
  ].filter((value) => value !== null);
  return sides.length === 0 ? null : sides.reduce((sum, value) => sum + value, 0) / sides.length;
}

function bothUsd(
  { price0Usd, price1Usd }: PricedSwap,
  { side0, side1 }: { side0: number; side1: number },
): number | null {
  return price0Usd === null || price1Usd === null ? null : side0 * price0Usd + side1 * price1Usd;
}

/** valueUsd and feeUsd of rows of one block, with the prices at its end. */
function compareUsd(
  pool: PoolRow,
  rows: readonly PoolEventRow[],
  prices: ReadonlyMap<string, TokenPrice>,
): Finding[] {
  const expected = rows.map((row) => {
    const { feeUsd, valueUsd } = usdOf(pool, row, valuedWith(pool, row, prices));
    const { blockNumber, chainId, logIndex } = row;
    return { chainId, blockNumber, logIndex, valueUsd, ...(feeUsd !== undefined && { feeUsd }) };
  });
  return compareRows({
    collection: poolEvents,
    pool: pool.poolAddress,
    stored: rows,
    expected,
    step: USD_STEP,
  });
}

/** Without reading prices: no value is more than the row's own prices give, and unknown only where these are. */
function boundUsd(pool: PoolRow, rows: readonly PoolEventRow[]): Finding[] {
  return rows.flatMap((row) => {
    const most = usdOf(pool, row);
    const place = { pool: pool.poolAddress, at: `block ${row.blockNumber}, log ${row.logIndex}` };
    return (["valueUsd", "feeUsd"] as const).flatMap((name) => {
      const [stored, bound] = [row[name], most[name]];
      if (bound === undefined) return [];
      const holds =
        stored === null || bound === null ? stored === bound : stored <= bound * (1 + 1e-9) + USD_STEP;
      return [requireThat(place, { field: `pool_events.${name}`, holds, stored, rule: `at most ${bound}` })];
    });
  });
}

/** USD of rows: exactly in some blocks of each hour, by a bound in all. */
export function valuePass({ pick, pool, sampling, store }: PoolScope): PoolPass<HourWindow> {
  const tokens = [pool.token0Address, pool.token1Address];
  return {
    async window({ rows }) {
      const findings = boundUsd(pool, rows);
      const blocks = [...new Set(rows.filter((row) => row.kind === "swap").map((row) => row.blockNumber))];
      for (const block of sampleInOrder(blocks, { size: sampling.pricedBlocks, pick })) {
        const prices = await readPrices(store, { chainId: pool.chainId, tokens, block });
        const own = rows.filter((row) => row.blockNumber === block);
        findings.push(...compareUsd(pool, own, prices));
      }
      return findings;
    },
  };
}
