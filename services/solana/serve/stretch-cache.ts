import type { Store } from "../../shared/storage/port.ts";
import type { StretchCounts } from "../metrics/stretch-counts.ts";
import { type StretchRow, stretches } from "../store/collections.ts";

/** A stretch as it is asked for. */
export interface Stretch {
  readonly number: number;
  readonly firstSlot: number;
  readonly lastSlot: number;
  readonly rows: number;
  readonly mints: readonly string[];
  readonly counts: StretchCounts;
}

/** Some 3 KB each. */
const MAX_STRETCHES = 20_000;
const READ_AT_ONCE = 128;

interface Kept {
  /** By number; those that were not read yet are missing. */
  readonly byNumber: Map<number, Stretch>;
  newest: number;
}

/**
 * Stretches of lists in memory. They never change once they are stored, so each is read once; only whether there is a
 * newer one is asked every time.
 */
export class StretchCache {
  readonly #store: Store;
  readonly #lists = new Map<string, Kept>();
  #size = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Stretches that end at or before a slot, the newest first. */
  async before(list: string, of: { hi: number; limit: number }): Promise<Stretch[]> {
    const kept = this.#listOf(list);
    for (const row of await this.#read(list, { gt: kept.newest })) this.#keep(kept, row);
    const found: Stretch[] = [];
    for (let number = kept.newest; number >= 0 && found.length < of.limit; number--) {
      if (!kept.byNumber.has(number)) {
        for (const row of await this.#read(list, { lte: number })) this.#keep(kept, row);
        // Retention took what is older.
        if (!kept.byNumber.has(number)) break;
      }
      const stretch = kept.byNumber.get(number) as Stretch;
      if (stretch.lastSlot <= of.hi) found.push(stretch);
    }
    return found;
  }

  #listOf(list: string): Kept {
    const known = this.#lists.get(list);
    // As the most lately used one it is the last to go.
    if (known !== undefined) this.#lists.delete(list);
    const kept = known ?? { byNumber: new Map(), newest: -1 };
    this.#lists.set(list, kept);
    for (const [oldest, { byNumber }] of this.#lists) {
      if (this.#size <= MAX_STRETCHES || oldest === list) break;
      this.#size -= byNumber.size;
      this.#lists.delete(oldest);
    }
    return kept;
  }

  #read(list: string, number: { gt: number } | { lte: number }): Promise<StretchRow[]> {
    return this.#store.find(stretches, {
      filter: { list, number },
      order: [{ field: "number", direction: "desc" }],
      limit: READ_AT_ONCE,
    });
  }

  #keep(kept: Kept, row: StretchRow): void {
    const { number, firstSlot, lastSlot, rows } = row;
    if (!kept.byNumber.has(number)) this.#size += 1;
    kept.byNumber.set(number, {
      number,
      firstSlot,
      lastSlot,
      rows,
      mints: row.mints as string[],
      counts: row.counts as StretchCounts,
    });
    kept.newest = Math.max(kept.newest, number);
  }
}
