import type { Cell } from "../../shared/contract/column.ts";
import { buildBlockRows, type TokenCandleTrade } from "../ingest/block-rows.ts";
import type { TimedBlock } from "../ingest/timed-block.ts";
import type { ContestName } from "../metrics/contested-candle.ts";
import { PriceTracker } from "../price/price-tracker.ts";
import { nameOf } from "../store/candle-row.ts";
import type { PoolTransactionRow, SupplyRow, TokenTransactionRow } from "../store/collections.ts";

const TX_TYPES = ["buy", "sell", "add_liquidity", "remove_liquidity"];
const POOL_TX_TYPES = ["trade", "add_liquidity", "remove_liquidity"];
const EXCHANGES = ["raydium", "orca", "meteora", "pumpfun"];
const DAY = 86_400;

interface Placed {
  readonly slot: number;
  readonly transactionIndex: number;
  readonly instructionIndex: number;
  readonly signature: string;
  readonly leg: number;
  readonly time: number;
}

export interface WindowQuery {
  readonly days?: number | undefined;
  readonly after_time?: number | undefined;
  readonly before_time?: number | undefined;
}

export interface PageQuery extends WindowQuery {
  readonly limit: number;
  readonly offset: number;
}

/** What responses must be, computed plainly from every block: no store, no counts, no pages. */
export class Reference {
  readonly tokenRows: TokenTransactionRow[] = [];
  readonly poolRows: PoolTransactionRow[] = [];
  readonly supplyRows: SupplyRow[] = [];
  readonly trades: (TokenCandleTrade & { time: number })[] = [];
  readonly headTime: number;
  /** As all trades left it. */
  readonly book = new PriceTracker();
  readonly #blocks: readonly TimedBlock[];
  /** Contests about prices that were lost. */
  readonly #refused: ReadonlySet<string>;
  readonly #rowsFromSlot: number;

  /** @param options.rowsFromSlot rows of earlier slots are not kept any more */
  constructor(blocks: readonly TimedBlock[], options: { rowsFromSlot?: number } = {}) {
    const { book } = this;
    this.#blocks = blocks;
    for (const { slot, time, transactions } of blocks) {
      const rows = buildBlockRows(transactions, { slot, time, book });
      this.tokenRows.push(...rows.tokenRows);
      this.poolRows.push(...rows.poolRows);
      this.supplyRows.push(...rows.supplyRows);
      this.trades.push(...rows.candleTrades.map((trade) => ({ ...trade, time })));
    }
    const verdicts = book.drainVerdicts().filter(({ isRefused }) => isRefused);
    this.#refused = new Set(verdicts.map(({ mint, contest }) => nameOf({ mint, since: contest.since })));
    this.headTime = blocks.at(-1)?.time ?? 0;
    this.#rowsFromSlot = options.rowsFromSlot ?? 0;
  }

  /** Whether a price was taken back in the end: then candles show the other reading of its trades. */
  isRefused(contest: ContestName): boolean {
    return this.#refused.has(nameOf(contest));
  }

  tokenTransactions(
    query: PageQuery & {
      token_address: string;
      tx_type?: string | undefined;
      dex?: string | undefined;
      pool_address?: string | undefined;
      min_value_usd?: number | undefined;
    },
  ): Cell[][] {
    const least = query.min_value_usd;
    const found = this.tokenRows.filter(
      (row) =>
        row.mint === query.token_address &&
        (query.tx_type === undefined || TX_TYPES[row.txType] === query.tx_type) &&
        (query.dex === undefined || EXCHANGES[row.dex] === query.dex) &&
        (query.pool_address === undefined || row.pool === query.pool_address) &&
        (least === undefined || (row.valueUsd !== null && row.valueUsd >= least)),
    );
    return this.#page(found, query).map((row) => [
      ...[row.signature, row.slot, row.time, TX_TYPES[row.txType] as string, row.amount],
      ...[row.valueUsd, row.priceUsd, EXCHANGES[row.dex] as string, row.pool, row.instructionIndex],
    ]);
  }

  buysAndSells(query: PageQuery & { token_address: string }): Cell[][] {
    const found = this.tokenRows.filter((row) => row.mint === query.token_address && row.txType < 2);
    return this.#page(found, query).map((row) => [
      ...[row.signature, row.slot, TX_TYPES[row.txType] as string, row.amount],
      ...[row.valueUsd, row.priceUsd, EXCHANGES[row.dex] as string, row.pool],
    ]);
  }

  poolTransactions(
    query: PageQuery & { pool_address: string },
    symbolOf: (mint: string) => string = () => "",
  ): Cell[][] {
    const found = this.poolRows.filter((row) => row.pool === query.pool_address);
    return this.#page(found, query).map((row) => [
      ...[row.signature, row.slot, POOL_TX_TYPES[row.kind] as string, row.amountIn, row.amountOut],
      ...[row.tokenIn, symbolOf(row.tokenIn), row.tokenOut, symbolOf(row.tokenOut), row.valueUsd],
      ...[EXCHANGES[row.dex] as string, row.time, row.instructionIndex],
    ]);
  }

  /** @param order columns, "-" before those that descend */
  mintsAndBurns(query: PageQuery & { token_address: string }, order: readonly string[]): Cell[][] {
    const rows = this.#kept(
      this.supplyRows.filter(({ mint }) => mint === query.token_address),
      query,
    );
    const sorted = rows
      .map((row) => ({ row, amount: row.amount, cells: supplyCells(row) }))
      .sort((a, b) => {
        const terms = order.map((term) => compareColumn(term, [a, b]));
        return terms.find((found) => found !== 0) ?? newestFirst(a.row, b.row);
      });
    return sorted.slice(query.offset, query.offset + query.limit).map(({ cells }) => cells);
  }

  /** What wallets hold of a token, the largest first; raw units. */
  holders(mint: string): [owner: string, balance: bigint][] {
    const accounts = new Map<string, Map<string, bigint>>();
    const transactions = this.#blocks.flatMap((block) => block.transactions);
    for (const change of transactions.flatMap(({ balances }) => balances)) {
      if (change.mint !== mint || change.owner === null) continue;
      const held = accounts.get(change.owner) ?? new Map<string, bigint>();
      accounts.set(change.owner, held.set(change.tokenAccount, change.after));
    }
    return [...accounts]
      .map(([owner, held]): [string, bigint] => [owner, [...held.values()].reduce((a, b) => a + b, 0n)])
      .filter(([, balance]) => balance > 0n)
      .sort(([a, one], [b, other]) => (one === other ? (a < b ? -1 : 1) : one < other ? 1 : -1));
  }

  #page<R extends Placed>(rows: readonly R[], query: PageQuery): R[] {
    return this.#kept(rows, query)
      .sort(newestFirst)
      .slice(query.offset, query.offset + query.limit);
  }

  #kept<R extends Placed>(rows: readonly R[], query: WindowQuery): R[] {
    const { after_time: after, before_time: before } = query;
    const span = (query.days ?? 0) * DAY;
    const end = before ?? (after === undefined ? this.headTime + 1 : after + span);
    const start = after ?? end - span;
    return rows.filter(({ slot, time }) => time >= start && time < end && slot >= this.#rowsFromSlot);
  }
}

const SUPPLY_COLUMNS = [
  ...["blockTime", "blockNumber", "txSignature", "tokenAddress", "operationType"],
  ...["accountCount", "authority", "amount", "amountUI", "decimals"],
];

function supplyCells(row: SupplyRow): Cell[] {
  const amount = Number(row.amount);
  return [
    `${new Date(row.time * 1000).toISOString().slice(0, 19)}+00:00`,
    ...[row.slot, row.signature, row.mint, row.isMint ? "mint" : "burn", row.accountCount, row.authority],
    Number.isSafeInteger(amount) ? amount : String(row.amount),
    Number.parseFloat(`${row.amount}e-${row.decimals}`),
    row.decimals,
  ];
}

export function newestFirst(a: Placed, b: Placed): number {
  for (const field of ["slot", "transactionIndex", "instructionIndex", "leg"] as const) {
    if (a[field] !== b[field]) return a[field] < b[field] ? 1 : -1;
  }
  return 0;
}

interface SupplyCandidate {
  readonly amount: bigint;
  readonly cells: readonly Cell[];
}

/** Nulls last either way; amounts by their raw units. */
function compareColumn(term: string, [a, b]: readonly [SupplyCandidate, SupplyCandidate]): number {
  const column = term.replace("-", "");
  const at = SUPPLY_COLUMNS.indexOf(column);
  const [one, other] = column.startsWith("amount")
    ? [a.amount, b.amount]
    : [a.cells[at] as Cell, b.cells[at] as Cell];
  if (one === other) return 0;
  if (one === null || other === null) return one === null ? 1 : -1;
  return one < other === term.startsWith("-") ? 1 : -1;
}
