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
/** Lists without a stretch are among them, of any address that is asked for. */
const MAX_LISTS = 20_000;
const READ_AT_ONCE = 128;

/** Stretches of one list. */
interface Kept {
  /** By number; those that were not read yet, and those that retention took, are missing. */
  readonly byNumber: Map<number, Stretch>;
  newest: Pick<Stretch, "number" | "firstSlot"> | undefined;
  isDropped: boolean;
}

/**
 * Stretches of lists in memory. They never change once they are stored, so each is read once; only whether there is a
 * newer one is asked every time.
 */
export class StretchCache {
  readonly #store: Store;
  readonly #maxStretches: number;
  readonly #lists = new Map<string, Kept>();
  #size = 0;

  constructor(store: Store, maxStretches = MAX_STRETCHES) {
    this.#store = store;
    this.#maxStretches = maxStretches;
  }

  get size(): number {
    return this.#size;
  }

  /** Stretches that end at or before a slot, the newest first. */
  async before(list: string, of: { hi: number; limit: number }): Promise<Stretch[]> {
    const kept = this.#listOf(list);
    await this.#readNewer(list, kept);
    const found: Stretch[] = [];
    for (let number = await this.#lastBefore(list, { kept, hi: of.hi }); number >= 0; number--) {
      if (found.length === of.limit) break;
      const stretch = kept.byNumber.get(number) ?? (await this.#readDown(list, { kept, number }));
      // Retention took what is older.
      if (stretch === undefined) break;
      found.push(stretch);
    }
    return found;
  }

  /** Number of the last stretch that ends at or before a slot; −1 = none. Few are read for it: it halves what is left. */
  async #lastBefore(list: string, { kept, hi }: { kept: Kept; hi: number }): Promise<number> {
    let low = -1;
    let high = kept.newest?.number ?? -1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      const stretch = kept.byNumber.get(middle) ?? (await this.#readOne(list, { kept, number: middle }));
      // One that retention took lies before all that are left.
      if (stretch === undefined || stretch.lastSlot <= hi) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Also finds out whether retention took all that is kept, after which a list is numbered anew. */
  async #readNewer(list: string, kept: Kept): Promise<void> {
    const known = kept.newest;
    const rows = await this.#store.find(stretches, {
      filter: { list, number: { gte: known?.number ?? 0 } },
      order: [{ field: "number", direction: "desc" }],
      limit: READ_AT_ONCE,
    });
    if (known !== undefined) {
      const key = { list, number: known.number };
      const stored = rows.length === READ_AT_ONCE ? await this.#store.get(stretches, key) : rows.at(-1);
      if (stored?.number !== known.number || stored.firstSlot !== known.firstSlot) {
        this.#forget(kept);
        kept.newest = undefined;
      }
    }
    for (const row of rows) this.#keep(kept, row);
  }

  #drop(list: string, kept: Kept): void {
    this.#forget(kept);
    kept.isDropped = true;
    this.#lists.delete(list);
  }

  #forget(kept: Kept): void {
    if (!kept.isDropped) this.#size -= kept.byNumber.size;
    kept.byNumber.clear();
  }

  async #readOne(
    list: string,
    { kept, number }: { kept: Kept; number: number },
  ): Promise<Stretch | undefined> {
    const row = await this.#store.get(stretches, { list, number });
    return row && this.#keep(kept, row);
  }

  /** Reads a stretch and those before it, which will be asked for next. */
  async #readDown(
    list: string,
    { kept, number }: { kept: Kept; number: number },
  ): Promise<Stretch | undefined> {
    const rows = await this.#store.find(stretches, {
      filter: { list, number: { lte: number } },
      order: [{ field: "number", direction: "desc" }],
      limit: READ_AT_ONCE,
    });
    const [first] = rows.map((row) => this.#keep(kept, row));
    return first?.number === number ? first : undefined;
  }

  #listOf(list: string): Kept {
    const known = this.#lists.get(list);
    // As the most lately used one it is the last to go.
    if (known !== undefined) this.#lists.delete(list);
    const kept = known ?? { byNumber: new Map(), newest: undefined, isDropped: false };
    this.#lists.set(list, kept);
    for (const [oldest, each] of this.#lists) {
      if (this.#lists.size <= MAX_LISTS) break;
      this.#drop(oldest, each);
    }
    return kept;
  }

  #keep(kept: Kept, row: StretchRow): Stretch {
    const { number, firstSlot, lastSlot, rows } = row;
    const mints = row.mints as string[];
    const stretch = { number, firstSlot, lastSlot, rows, mints, counts: row.counts as StretchCounts };
    if (!kept.byNumber.has(number)) this.#makeRoom(kept);
    kept.byNumber.set(number, stretch);
    if (kept.newest === undefined || number > kept.newest.number) kept.newest = stretch;
    return stretch;
  }

  /** For one more of a list: those lists go first that were not asked for longest, then what is kept of itself. */
  #makeRoom(reading: Kept): void {
    if (reading.isDropped) return;
    for (const [list, kept] of this.#lists) {
      if (this.#size < this.#maxStretches) break;
      if (kept !== reading) this.#drop(list, kept);
      else {
        this.#forget(kept);
        break;
      }
    }
    this.#size += 1;
  }
}
