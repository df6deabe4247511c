import { computeValueUsd } from "../price/limits.ts";
import type { PoolTransactionRow, TokenTransactionRow, TX_TYPES } from "./collections.ts";

/** Types of a pool's row in the lists of its tokens. */
const [BUY, SELL, ADD, REMOVE] = [0, 1, 2, 3] as const satisfies readonly number[] & {
  length: (typeof TX_TYPES)["length"];
};

/** A side of a pool's row: the fields that its token's list adds. */
export type TokenSide = Pick<TokenTransactionRow, "mint" | "txType" | "amount" | "priceUsd" | "valueUsd">;

/** The fields that the sides of a pool's row depend on. */
export type SidedRow = Pick<
  PoolTransactionRow,
  "kind" | "tokenIn" | "amountIn" | "priceInUsd" | "tokenOut" | "amountOut" | "priceOutUsd" | "valueUsd"
>;

/**
 * The sides of a pool's row. The trader sells the token that goes into the pool and buys the one that leaves it; both
 * sides have the trade's value. A token added or removed has the value of its own amount; a side of 0 gives no row.
 */
export function toSides(row: SidedRow): TokenSide[] {
  const { kind, tokenIn, amountIn, priceInUsd, tokenOut, amountOut, priceOutUsd, valueUsd } = row;
  if (kind === 0) {
    return [
      { mint: tokenIn, txType: SELL, amount: amountIn, priceUsd: priceInUsd, valueUsd },
      { mint: tokenOut, txType: BUY, amount: amountOut, priceUsd: priceOutUsd, valueUsd },
    ];
  }
  const txType = kind === 1 ? ADD : REMOVE;
  const sides: TokenSide[] = [];
  const add = (mint: string, amount: number, priceUsd: number | null) => {
    if (amount !== 0)
      sides.push({ mint, txType, amount, priceUsd, valueUsd: computeValueUsd(amount, priceUsd) });
  };
  add(tokenIn, amountIn, priceInUsd);
  add(tokenOut, amountOut, priceOutUsd);
  return sides;
}

/** A pool's row in the lists of its tokens. */
export function toTokenRows(row: PoolTransactionRow): TokenTransactionRow[] {
  const { pool, slot, transactionIndex, instructionIndex, signature, leg, time, dex } = row;
  return toSides(row).map(({ mint, txType, amount, priceUsd, valueUsd }) => ({
    mint,
    slot,
    transactionIndex,
    instructionIndex,
    signature,
    leg,
    time,
    txType,
    dex,
    pool,
    amount,
    valueUsd,
    priceUsd,
  }));
}
