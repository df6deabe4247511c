import type { Store } from "../../shared/storage/port.ts";
import { PriceBook } from "../price/price-book.ts";
import type { PoolRowRow, SupplyRow, TokenRowRow } from "../store/collections.ts";
import { type BlockRows, rowsOfBlock } from "./block-rows.ts";
import type { DecodedBlock } from "./indexer-block.ts";
import type { BatchChanges } from "./journal.ts";
import { CandleBook } from "./state/candle-book.ts";
import { HolderBook, type Holding } from "./state/holder-book.ts";
import { PriceShelf } from "./state/price-shelf.ts";
import { TokenBook } from "./state/token-book.ts";
import { TraderBook } from "./state/trader-book.ts";

/** Everything that a batch of blocks changes in the store. */
export interface Batch {
  readonly tokenRows: readonly TokenRowRow[];
  readonly poolRows: readonly PoolRowRow[];
  readonly supplyRows: readonly SupplyRow[];
  readonly changes: BatchChanges;
}

/**
 * Turns blocks, strictly in order, into rows and documents. What it knows besides the blocks comes from the store and
 * goes back there with every batch, so that another indexer can go on from any checkpoint.
 */
export class Indexer {
  readonly #prices: PriceShelf;
  readonly #candles: CandleBook;
  readonly #holders: HolderBook;
  readonly #traders: TraderBook;
  readonly tokens: TokenBook;

  constructor(store: Store, book: PriceBook = new PriceBook()) {
    this.#prices = new PriceShelf(store, book);
    this.#candles = new CandleBook(store);
    this.#holders = new HolderBook(store);
    this.#traders = new TraderBook(store);
    this.tokens = new TokenBook(store);
  }

  /** Must be written before the next call; after a write that failed, `clear` comes first. */
  async apply(blocks: readonly DecodedBlock[]): Promise<Batch> {
    await this.#load(blocks);
    const tokenRows: TokenRowRow[] = [];
    const poolRows: PoolRowRow[] = [];
    const supplyRows: SupplyRow[] = [];
    for (const block of blocks) {
      const { slot, time, transactions } = block;
      const rows = rowsOfBlock(transactions, { slot, time, book: this.#prices.book });
      this.#take(block, rows);
      tokenRows.push(...rows.tokenRows);
      poolRows.push(...rows.poolRows);
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
          candles: this.#candles.take(),
          ...this.#holders.take(),
          prices: this.#prices.take(),
          traders: this.#traders.take(),
          ...this.tokens.take(),
        },
      },
    };
  }

  /** Takes in the largest accounts of a token as of the last block that was applied. To be written with the next batch. */
  async addHolders(of: { mint: string; slot: number; holdings: readonly Holding[] }): Promise<void> {
    await this.tokens.markHolders(of.mint, of.slot);
    for (const change of await this.#holders.put(of.mint, of.holdings)) this.tokens.countHolders(change);
  }

  /** Forgets what it knows of the store, which was changed by others or not at all. */
  clear(): void {
    for (const book of [this.#prices, this.#candles, this.#holders, this.#traders, this.tokens]) book.clear();
  }

  async #load(blocks: readonly DecodedBlock[]): Promise<void> {
    await Promise.all([
      this.#prices.load(blocks),
      this.#candles.load(blocks),
      this.#holders.load(blocks),
      this.#traders.load(blocks),
      this.tokens.load(blocks),
    ]);
  }

  #take(block: DecodedBlock, rows: BlockRows): void {
    this.#candles.add(rows);
    this.#traders.add(block);
    this.tokens.add(block);
    for (const change of this.#holders.add(block)) this.tokens.countHolders(change);
  }
}
