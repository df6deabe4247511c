import type { DecodedTransaction, LiquidityChange, SupplyChange, Trade } from "../decode/model.ts";
import { toWhole } from "../metrics/amount.ts";
import type { CandleTrade } from "../metrics/candle.ts";
import type { ContestName } from "../metrics/contested-candle.ts";
import { computeValueUsd, MIN_RAW_AMOUNT } from "../price/limits.ts";
import type { LiquidityMove, PriceTracker, TradeValue } from "../price/price-tracker.ts";
import {
  EXCHANGES,
  POOL_TX_TYPES,
  type PoolTransactionRow,
  type SupplyRow,
  type TokenTransactionRow,
} from "../store/collections.ts";
import { toTokenRows } from "../store/token-sides.ts";

/** A trade that counts in a token's candles. */
export interface TokenCandleTrade extends CandleTrade {
  readonly mint: string;
  /** What it is if the price is taken back that it was valued by; a null trade: it does not count then. */
  readonly ifRefused: { readonly contest: ContestName; readonly trade: CandleTrade | null } | undefined;
}

/** All rows of one block, and the trades that count in candles, in order. */
export interface BlockRows {
  readonly tokenRows: TokenTransactionRow[];
  readonly poolRows: PoolTransactionRow[];
  readonly supplyRows: SupplyRow[];
  readonly candleTrades: TokenCandleTrade[];
}

interface BlockPosition {
  readonly slot: number;
  /** Unix seconds. */
  readonly time: number;
}

/**
 * The rows of a block's transactions, in order, at the current prices, which its trades change. PriceTracker.applyTrade
 * values a trade; a token added to or removed from a pool has the value of its amount at its current price, as far as
 * that is supported.
 */
export function buildBlockRows(
  transactions: readonly DecodedTransaction[],
  context: BlockPosition & { readonly book: PriceTracker },
): BlockRows {
  const rows: BlockRows = { tokenRows: [], poolRows: [], supplyRows: [], candleTrades: [] };
  const { slot, time, book } = context;
  for (const { transactionIndex, signature, events } of transactions) {
    const within: TransactionContext = { slot, time, book, transactionIndex, signature };
    for (const event of events) {
      if (event.kind === "trade") addTrade(rows, event, within);
      else if ("pool" in event) addLiquidity(rows, event, within);
      else addSupply(rows, event, within);
    }
  }
  return rows;
}

interface TransactionContext extends BlockPosition {
  readonly book: PriceTracker;
  readonly transactionIndex: number;
  readonly signature: string;
}

function addTrade(rows: BlockRows, trade: Trade, context: TransactionContext): void {
  const { tokenIn, tokenOut, pool } = trade;
  const { slot, time, transactionIndex, signature } = context;
  const amountIn = toWhole(trade.amountIn, trade.decimalsIn);
  const amountOut = toWhole(trade.amountOut, trade.decimalsOut);
  const value = context.book.applyTrade({
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
  const row: PoolTransactionRow = {
    slot,
    transactionIndex,
    instructionIndex: trade.instructionIndex,
    signature,
    leg: trade.leg,
    time,
    dex: EXCHANGES.indexOf(trade.dex),
    pool,
    kind: POOL_TX_TYPES.indexOf("trade"),
    tokenIn,
    amountIn,
    priceInUsd,
    tokenOut,
    amountOut,
    priceOutUsd,
    valueUsd,
    account: trade.account,
  };
  rows.poolRows.push(row);
  for (const side of toTokenRows(row)) {
    rows.tokenRows.push(side);
    const { mint, amount } = side;
    const isIn = mint === tokenIn;
    if (!(isIn ? value.isReliableIn : value.isReliableOut)) continue;
    const { candle } = value;
    const priceUsd = isIn ? candle.priceInUsd : candle.priceOutUsd;
    if (valueUsd === null || priceUsd === null) continue;
    const ifRefused = value.ifRefused && toRefused(value.ifRefused, { isIn, amount });
    rows.candleTrades.push({ mint, priceUsd, valueUsd, amount, ifRefused });
  }
}

function toRefused(
  refused: Exclude<TradeValue["ifRefused"], undefined>,
  { isIn, amount }: { isIn: boolean; amount: number },
): TokenCandleTrade["ifRefused"] {
  const { mint, since, valueUsd } = refused;
  const priceUsd = isIn ? refused.priceInUsd : refused.priceOutUsd;
  const trade = valueUsd === null || priceUsd === null ? null : { priceUsd, valueUsd, amount };
  return { contest: { mint, since }, trade };
}

function addLiquidity(rows: BlockRows, change: LiquidityChange, context: TransactionContext): void {
  const { pool, tokenA: tokenIn, tokenB: tokenOut } = change;
  const amountIn = toWhole(change.amountA, change.decimalsA);
  const amountOut = toWhole(change.amountB, change.decimalsB);
  const { slot, time, transactionIndex, signature } = context;
  const move: LiquidityMove = {
    pool,
    tokenA: tokenIn,
    amountA: amountIn,
    tokenB: tokenOut,
    amountB: amountOut,
    isAdded: change.kind === "add_liquidity",
    slot,
    time,
  };
  const { usdA: priceInUsd, usdB: priceOutUsd } = context.book.liquidityPrices(move);
  context.book.applyLiquidity(move);
  // An amount of 0 has the value 0, even without a price.
  const valueIn = amountIn === 0 ? 0 : computeValueUsd(amountIn, priceInUsd);
  const valueOut = amountOut === 0 ? 0 : computeValueUsd(amountOut, priceOutUsd);
  const row: PoolTransactionRow = {
    slot,
    transactionIndex,
    instructionIndex: change.instructionIndex,
    signature,
    leg: change.leg,
    time,
    dex: EXCHANGES.indexOf(change.dex),
    pool,
    kind: POOL_TX_TYPES.indexOf(change.kind),
    tokenIn,
    amountIn,
    priceInUsd,
    tokenOut,
    amountOut,
    priceOutUsd,
    valueUsd: valueIn === null || valueOut === null ? null : valueIn + valueOut,
    account: change.account,
  };
  rows.poolRows.push(row);
  rows.tokenRows.push(...toTokenRows(row));
}

function addSupply(rows: BlockRows, change: SupplyChange, context: TransactionContext): void {
  const { mint, instructionIndex, leg, accountCount, authority, amount, decimals } = change;
  const isMint = change.kind === "mint";
  const { slot, time, transactionIndex, signature } = context;
  rows.supplyRows.push({
    mint,
    slot,
    transactionIndex,
    instructionIndex,
    signature,
    leg,
    time,
    isMint,
    accountCount,
    authority,
    amount,
    decimals,
  });
}
