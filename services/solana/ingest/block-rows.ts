import type { DecodedTransaction, Dex, LiquidityChange, SupplyChange, Trade } from "../decode/model.ts";
import type { CandleTrade } from "../metrics/candle.ts";
import { MIN_RAW_AMOUNT, type PriceBook } from "../price/price-book.ts";
import { type PoolRowRow, type SupplyRow, type TokenRowRow, TX_TYPES } from "../store/collections.ts";

/** Exchanges by their number in rows. */
export const DEXES: readonly Dex[] = ["raydium", "orca", "meteora", "pumpfun"];

const KINDS = { trade: 0, add_liquidity: 1, remove_liquidity: 2 } as const;

/** A trade that stands in a token's candles. */
export interface TokenCandleTrade extends CandleTrade {
  readonly mint: string;
}

/** All rows of one block, and what its trades add to candles, in order. */
export interface BlockRows {
  readonly tokenRows: TokenRowRow[];
  readonly poolRows: PoolRowRow[];
  readonly supplyRows: SupplyRow[];
  readonly candleTrades: TokenCandleTrade[];
}

interface At {
  readonly slot: number;
  /** Unix seconds. */
  readonly time: number;
}

/**
 * The rows of a block's transactions, in their order, at the prices of the book, which its trades change.
 * A trade is worth what PriceBook.take says; a token added to or removed from a pool its amount at the book's price.
 */
export function rowsOfBlock(
  transactions: readonly DecodedTransaction[],
  of: At & { readonly book: PriceBook },
): BlockRows {
  const rows: BlockRows = { tokenRows: [], poolRows: [], supplyRows: [], candleTrades: [] };
  for (const { signature, events } of transactions) {
    for (const event of events) {
      const within = { ...of, signature };
      if (event.kind === "trade") addTrade(rows, event, within);
      else if ("pool" in event) addLiquidity(rows, event, within);
      else addSupply(rows, event, within);
    }
  }
  return rows;
}

/** A raw amount in whole tokens: the nearest float. */
export function toWhole(raw: bigint, decimals: number): number {
  return Number(`${raw}e-${decimals}`);
}

type Within = At & { readonly book: PriceBook; readonly signature: string };

function addTrade(rows: BlockRows, trade: Trade, of: Within): void {
  const { tokenIn, tokenOut, pool } = trade;
  const { slot, time } = of;
  const amountIn = toWhole(trade.amountIn, trade.decimalsIn);
  const amountOut = toWhole(trade.amountOut, trade.decimalsOut);
  const value = of.book.take({
    pool,
    tokenIn,
    amountIn,
    tokenOut,
    amountOut,
    reserveIn: trade.reserveIn === null ? null : toWhole(trade.reserveIn, trade.decimalsIn),
    reserveOut: trade.reserveOut === null ? null : toWhole(trade.reserveOut, trade.decimalsOut),
    isDust: trade.amountIn < MIN_RAW_AMOUNT || trade.amountOut < MIN_RAW_AMOUNT,
    slot,
    time,
  });
  const { valueUsd, priceInUsd, priceOutUsd } = value;
  const placed = placeOf(trade, of);
  rows.poolRows.push({
    ...placed,
    pool,
    kind: KINDS.trade,
    tokenIn,
    amountIn,
    priceInUsd,
    tokenOut,
    amountOut,
    priceOutUsd,
    valueUsd,
    account: trade.account,
  });
  // Who gives a token to the pool sells it, who takes one buys it.
  const sides = [
    { mint: tokenIn, txType: "sell", amount: amountIn, priceUsd: priceInUsd, isFirm: value.isFirmIn },
    { mint: tokenOut, txType: "buy", amount: amountOut, priceUsd: priceOutUsd, isFirm: value.isFirmOut },
  ] as const;
  for (const { mint, txType, amount, priceUsd, isFirm } of sides) {
    rows.tokenRows.push({
      ...placed,
      mint,
      pool,
      txType: TX_TYPES.indexOf(txType),
      amount,
      valueUsd,
      priceUsd,
    });
    if (isFirm && valueUsd !== null && priceUsd !== null)
      rows.candleTrades.push({ mint, priceUsd, valueUsd, amount });
  }
}

function addLiquidity(rows: BlockRows, change: LiquidityChange, of: Within): void {
  const { pool, tokenA, tokenB } = change;
  const placed = placeOf(change, of);
  const amountIn = toWhole(change.amountA, change.decimalsA);
  const amountOut = toWhole(change.amountB, change.decimalsB);
  const sides = [
    { mint: tokenA, amount: amountIn },
    { mint: tokenB, amount: amountOut },
  ].map(({ mint, amount }) => {
    const priceUsd = of.book.usd(mint, of.time);
    // Nothing of a token is worth nothing, whatever it costs.
    return { mint, amount, priceUsd, valueUsd: amount === 0 ? 0 : priceUsd && finite(amount * priceUsd) };
  });
  const [a, b] = sides as [(typeof sides)[number], (typeof sides)[number]];
  rows.poolRows.push({
    ...placed,
    pool,
    kind: KINDS[change.kind],
    tokenIn: tokenA,
    amountIn,
    priceInUsd: a.priceUsd,
    tokenOut: tokenB,
    amountOut,
    priceOutUsd: b.priceUsd,
    valueUsd: a.valueUsd === null || b.valueUsd === null ? null : a.valueUsd + b.valueUsd,
    account: change.account,
  });
  for (const { mint, amount, priceUsd, valueUsd } of sides) {
    if (amount === 0) continue;
    const txType = TX_TYPES.indexOf(change.kind);
    rows.tokenRows.push({ ...placed, mint, pool, txType, amount, valueUsd, priceUsd });
  }
}

function addSupply(rows: BlockRows, change: SupplyChange, of: Within): void {
  const { mint, instructionIndex, accountCount, authority, amount, decimals } = change;
  const isMint = change.kind === "mint";
  const { slot, time, signature } = of;
  rows.supplyRows.push({
    mint,
    slot,
    instructionIndex,
    signature,
    time,
    isMint,
    accountCount,
    authority,
    amount,
    decimals,
  });
}

function placeOf(event: Trade | LiquidityChange, { slot, time, signature }: Within) {
  const { instructionIndex, leg } = event;
  return { slot, instructionIndex, signature, leg, time, dex: DEXES.indexOf(event.dex) };
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
