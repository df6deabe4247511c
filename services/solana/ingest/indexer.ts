import type { Store } from "../../shared/storage/port.ts";
import { PriceTracker } from "../price/price-tracker.ts";
import type { PoolTransactionRow, SupplyRow, TokenTransactionRow } from "../store/collections.ts";
import { type KeptRows, keepsPoolRow, keepsTokenRow } from "../store/kept-rows.ts";
import { type BlockRows, buildBlockRows } from "./block-rows.ts";
import type { BatchChanges } from "./journal.ts";
import { CandleState } from "./state/candle-state.ts";
import { HolderState, type TokenAccountBalance } from "./state/holder-state.ts";
import { PriceState } from "./state/price-state.ts";
import { TokenState } from "./state/token-state.ts";
import { TraderState } from "./state/trader-state.ts";
import type { TimedBlock } from "./timed-block.ts";

/** All store changes of a batch of blocks. */
export interface IndexedBatch {
  readonly tokenRows: readonly TokenTransactionRow[];
  readonly poolRows: readonly PoolTransactionRow[];
  readonly supplyRows: readonly SupplyRow[];
  readonly changes: BatchChanges;
}

/**
 * Turns blocks, strictly in order, into rows and documents. All its state comes from the store and returns there with
 * every batch, so that another indexer can continue from any checkpoint.
 */
export class Indexer {
  readonly #prices: PriceState;
  readonly #candles: CandleState;
  readonly #holders: HolderState;
  readonly #traders: TraderState;
  readonly tokens: TokenState;

  readonly #kept: KeptRows;

  constructor(store: Store, book: PriceTracker = new PriceTracker(), kept: KeptRows = {}) {
    this.#kept = kept;
    this.#prices = new PriceState(store, book);
    this.#candles = new CandleState(store);
    this.#traders = new TraderState(store);
    this.tokens = new TokenState(store);
    this.#holders = new HolderState(store, (mint) => this.tokens.numberOf(mint));
  }

  /** Write the result before the next call; after a failed write, call `clear` first. */
  async apply(blocks: readonly TimedBlock[]): Promise<IndexedBatch> {
    await this.#load(blocks);
    const tokenRows: TokenTransactionRow[] = [];
    const poolRows: PoolTransactionRow[] = [];
    const supplyRows: SupplyRow[] = [];
    for (const block of blocks) {
      const { slot, time, transactions } = block;
      const rows = buildBlockRows(transactions, { slot, time, book: this.#prices.tracker });
      this.#take(block, rows);
      for (const row of rows.tokenRows) if (keepsTokenRow(this.#kept, row)) tokenRows.push(row);
      for (const row of rows.poolRows) if (keepsPoolRow(this.#kept, row)) poolRows.push(row);
      supplyRows.push(...rows.supplyRows);
    }
    return {
      tokenRows,
      poolRows,
      supplyRows,
      changes: {
        tokenRows: new Set(tokenRows.map(({ mint }) => mint)),
        poolRows: new Set(poolRows.map(({ pool }) => pool)),
        supplyRows: new Set(supplyRows.map(({ mint }) => mint)),
        documents: {
          ...this.#candles.take(),
          ...this.#holders.take(),
          prices: this.#prices.take(),
          traders: this.#traders.take(),
          ...this.tokens.take(),
        },
      },
    };
  }

  /** Adds balances of a token's accounts as of the last applied block. Written with the next batch. */
  async addHoldings(mint: string, holdings: readonly TokenAccountBalance[]): Promise<void> {
    await this.tokens.loadOne(mint);
    for (const change of await this.#holders.put(mint, holdings)) this.tokens.changeHolding(change);
  }

  /** Drops its state: others changed the store, or a write failed. */
  clear(): void {
    for (const state of [this.#prices, this.#candles, this.#holders, this.#traders, this.tokens])
      state.clear();
  }

  async #load(blocks: readonly TimedBlock[]): Promise<void> {
    await Promise.all([
      this.#prices.load(blocks),
      this.#candles.load(blocks),
      // Holders are found by the numbers of their tokens.
      this.tokens.load(blocks).then(() => this.#holders.load(blocks)),
      this.#traders.load(blocks),
    ]);
  }

  #take(block: TimedBlock, rows: BlockRows): void {
    this.#candles.end(this.#prices.tracker.drainVerdicts());
    this.#candles.add(rows);
    this.#traders.add(block);
    this.tokens.add(block);
    for (const change of this.#holders.add(block)) this.tokens.changeHolding(change);
  }
}
