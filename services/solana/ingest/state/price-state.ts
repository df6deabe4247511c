import type { Store } from "../../../shared/storage/port.ts";
import type { PriceTracker } from "../../price/price-tracker.ts";
import { type PriceRow, prices } from "../../store/collections.ts";
import { toPriceEntry, toPriceRow } from "../../store/price-row.ts";
import type { TimedBlock } from "../timed-block.ts";
import { type Change, DocumentCache } from "./document-cache.ts";
import { findTradedMints } from "./traded-mints.ts";

/** Beyond this many tokens the tracker is cleared, and loaded again from the store. */
const MAX_TOKENS = 20_000;

/** Loads and stores the price tracker's entries: of each token in a batch, and of all that its price may rest on. */
export class PriceState {
  readonly tracker: PriceTracker;
  readonly #docs: DocumentCache<typeof prices>;
  readonly #loaded = new Set<string>();

  constructor(store: Store, book: PriceTracker) {
    this.tracker = book;
    this.#docs = new DocumentCache(store, { collection: prices, maxEntries: Number.POSITIVE_INFINITY });
  }

  async load(blocks: readonly TimedBlock[]): Promise<void> {
    let wanted = new Set(
      blocks.flatMap(({ transactions }) =>
        transactions.flatMap((transaction) => [...findTradedMints(transaction)]),
      ),
    );
    while (wanted.size > 0) {
      const missing = [...wanted].filter((mint) => !this.#loaded.has(mint));
      await this.#docs.load(missing.map((mint) => ({ mint })));
      wanted = new Set();
      for (const mint of missing) {
        this.#loaded.add(mint);
        const row = this.#docs.get({ mint });
        if (row === undefined) continue;
        const entry = toPriceEntry(row);
        this.tracker.load([entry]);
        for (const { parent } of entry.quotes) wanted.add(parent);
      }
    }
  }

  take(): Change<PriceRow>[] {
    for (const mint of this.tracker.drainChanged()) {
      const entry = this.tracker.entry(mint);
      this.#docs.set({ mint }, entry === undefined ? null : toPriceRow(entry));
    }
    const changes = this.#docs.take();
    if (this.#loaded.size > MAX_TOKENS) this.clear();
    return changes;
  }

  clear(): void {
    this.tracker.clear();
    this.#docs.clear();
    this.#loaded.clear();
  }
}
