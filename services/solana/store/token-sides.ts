import type { PoolRowRow, TokenRowRow, TX_TYPES } from "./collections.ts";

/** What a pool's row is in the lists of its tokens. */
const [BUY, SELL, ADD, REMOVE] = [0, 1, 2, 3] as const satisfies readonly number[] & {
  length: (typeof TX_TYPES)["length"];
};

/**
 * A pool's row as its tokens' lists have it. Who gives a token to the pool sells it, who takes one buys it, and both
 * sides are worth what the trade is. A token added or removed is worth its own amount; a side of which nothing moved
 * is no row.
 */
export function tokenSides(row: PoolRowRow): TokenRowRow[] {
  const { pool, slot, instructionIndex, signature, leg, time, dex } = row;
  const placed = { slot, instructionIndex, signature, leg, time, dex, pool };
  const into = { ...placed, mint: row.tokenIn, amount: row.amountIn, priceUsd: row.priceInUsd };
  const out = { ...placed, mint: row.tokenOut, amount: row.amountOut, priceUsd: row.priceOutUsd };
  if (row.kind === 0) {
    const { valueUsd } = row;
    return [
      { ...into, txType: SELL, valueUsd },
      { ...out, txType: BUY, valueUsd },
    ];
  }
  const txType = row.kind === 1 ? ADD : REMOVE;
  return [into, out]
    .filter(({ amount }) => amount !== 0)
    .map((side) => ({ ...side, txType, valueUsd: worth(side.amount, side.priceUsd) }));
}

/** USD; null without a price. */
export function worth(amount: number, priceUsd: number | null): number | null {
  if (priceUsd === null) return null;
  const value = amount * priceUsd;
  return Number.isFinite(value) ? value : null;
}
