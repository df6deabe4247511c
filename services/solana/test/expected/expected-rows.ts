/**
 * Expected rows, balances and supplies, computed from the events that the devnet's programs expect: without the decoder
 * and the indexer.
 */
import type { ExpectedEvent, ExpectedTransaction } from "../../../../deploy/devnet/solana/expected.ts";

/** A block's transactions with where and when they are. */
export interface ExpectedBlock {
  readonly slot: number;
  readonly time: number;
  readonly transactions: readonly ExpectedTransaction[];
}

type Row = Readonly<Record<string, unknown>>;

const DEX = { raydium: 0, orca: 1, meteora: 2, pumpfun: 3 };

/** Raw units as a decimal text, the point put in by hand. */
function whole(raw: bigint, decimals: number): number {
  const digits = raw.toString().padStart(decimals + 1, "0");
  return Number(`${digits.slice(0, digits.length - decimals)}.${digits.slice(digits.length - decimals)}0`);
}

interface EventInBlock {
  readonly block: ExpectedBlock;
  readonly transactionIndex: number;
  readonly signature: string;
  readonly event: ExpectedEvent;
}

function* listEvents(blocks: readonly ExpectedBlock[]): Generator<EventInBlock> {
  for (const block of blocks) {
    for (const { transactionIndex, signature, events } of block.transactions)
      for (const event of events) yield { block, transactionIndex, signature, event };
  }
}

function placeOf({ block, transactionIndex, signature, event }: EventInBlock): Row {
  const { instructionIndex, leg } = event;
  return { slot: block.slot, time: block.time, transactionIndex, signature, instructionIndex, leg };
}

/** Rows of tokens' lists without what they are worth. */
export function expectTokenRows(blocks: readonly ExpectedBlock[]): Row[] {
  const rows: Row[] = [];
  for (const each of listEvents(blocks)) {
    const { event } = each;
    if (!("pool" in event)) continue;
    const at = { ...placeOf(each), dex: DEX[event.dex], pool: event.pool };
    if (event.kind === "trade") {
      const { tokenIn, amountIn, decimalsIn, tokenOut, amountOut, decimalsOut } = event;
      rows.push({ ...at, mint: tokenIn, txType: 1, amount: whole(amountIn, decimalsIn) });
      rows.push({ ...at, mint: tokenOut, txType: 0, amount: whole(amountOut, decimalsOut) });
      continue;
    }
    const txType = event.kind === "add_liquidity" ? 2 : 3;
    const { tokenA, amountA, decimalsA, tokenB, amountB, decimalsB } = event;
    if (amountA > 0n) rows.push({ ...at, mint: tokenA, txType, amount: whole(amountA, decimalsA) });
    if (amountB > 0n) rows.push({ ...at, mint: tokenB, txType, amount: whole(amountB, decimalsB) });
  }
  return rows;
}

/** Rows of pools' lists without what they are worth. */
export function expectPoolRows(blocks: readonly ExpectedBlock[]): Row[] {
  const rows: Row[] = [];
  for (const each of listEvents(blocks)) {
    const { event } = each;
    if (!("pool" in event)) continue;
    const { dex, pool, account } = event;
    const at = { ...placeOf(each), dex: DEX[dex], pool, account };
    if (event.kind === "trade") {
      rows.push({
        ...at,
        kind: 0,
        tokenIn: event.tokenIn,
        amountIn: whole(event.amountIn, event.decimalsIn),
        tokenOut: event.tokenOut,
        amountOut: whole(event.amountOut, event.decimalsOut),
      });
      continue;
    }
    rows.push({
      ...at,
      kind: event.kind === "add_liquidity" ? 1 : 2,
      tokenIn: event.tokenA,
      amountIn: whole(event.amountA, event.decimalsA),
      tokenOut: event.tokenB,
      amountOut: whole(event.amountB, event.decimalsB),
    });
  }
  return rows;
}

export function expectSupplyRows(blocks: readonly ExpectedBlock[]): Row[] {
  const rows: Row[] = [];
  for (const each of listEvents(blocks)) {
    const { event } = each;
    if ("pool" in event) continue;
    const { mint, amount, decimals, accountCount, authority } = event;
    const isMint = event.kind === "mint";
    rows.push({ ...placeOf(each), mint, amount, decimals, accountCount, authority, isMint });
  }
  return rows;
}

/** Raw balances by `mint owner`, of token accounts that moved. */
export function expectHolders(blocks: readonly ExpectedBlock[]): Map<string, bigint> {
  const accounts = new Map<string, { holder: string; amount: bigint }>();
  for (const { transactions } of blocks) {
    for (const { balances } of transactions) {
      for (const { tokenAccount, mint, owner, after } of balances)
        accounts.set(`${tokenAccount} ${mint}`, { holder: `${mint} ${owner}`, amount: after });
    }
  }
  const holders = new Map<string, bigint>();
  for (const { holder, amount } of accounts.values())
    if (amount > 0n) holders.set(holder, (holders.get(holder) ?? 0n) + amount);
  return holders;
}

/** In the order of keys, whatever the rows. */
export function inOrder(rows: readonly Row[], key: readonly string[]): Row[] {
  const textOf = (row: Row) =>
    key
      .map((field) => {
        const value = row[field];
        return typeof value === "number" ? String(value).padStart(16, "0") : String(value);
      })
      .join(" ");
  return [...rows].sort((a, b) => (textOf(a) < textOf(b) ? -1 : 1));
}
