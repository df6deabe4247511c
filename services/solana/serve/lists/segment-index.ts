import type { Store } from "../../../shared/storage/port.ts";
import type { SegmentCounts } from "../../metrics/segment-counts.ts";
import { type SegmentRow, segments } from "../../store/collections.ts";

/** A segment as it is asked for. */
export interface RowSegment {
  readonly number: number;
  readonly firstSlot: number;
  readonly lastSlot: number;
  readonly rows: number;
  readonly mints: readonly string[];
  readonly counts: SegmentCounts;
}

/** Some 3 KB each. */
const MAX_SEGMENTS = 20_000;
/** Lists without a segment are among them, of any address that is asked for. */
const MAX_LISTS = 20_000;
const SEGMENTS_PER_READ = 128;

/** Segments of one list. */
interface ListSegments {
  /** By number; those that were not read yet, and those that retention took, are missing. */
  readonly byNumber: Map<number, RowSegment>;
  newest: Pick<RowSegment, "number" | "firstSlot"> | undefined;
  isDropped: boolean;
}

/**
 * Segments of lists in memory. They never change once they are stored, so each is read once; only whether there is a
 * newer one is asked every time.
 */
export class SegmentIndex {
  readonly #store: Store;
  readonly #maxSegments: number;
  readonly #lists = new Map<string, ListSegments>();
  #size = 0;

  constructor(store: Store, maxSegments = MAX_SEGMENTS) {
    this.#store = store;
    this.#maxSegments = maxSegments;
  }

  get size(): number {
    return this.#size;
  }

  /** Segments that end at or before a slot, the newest first. */
  async before(list: string, of: { toSlot: number; limit: number }): Promise<RowSegment[]> {
    const kept = this.#listOf(list);
    await this.#readNewer(list, kept);
    const found: RowSegment[] = [];
    for (let number = await this.#lastBefore(list, { kept, toSlot: of.toSlot }); number >= 0; number--) {
      if (found.length === of.limit) break;
      const segment = kept.byNumber.get(number) ?? (await this.#readDown(list, { kept, number }));
      // Retention took what is older.
      if (segment === undefined) break;
      found.push(segment);
    }
    return found;
  }

  /** Number of the last segment that ends at or before a slot; −1 = none. Few are read for it: it halves what is left. */
  async #lastBefore(list: string, { kept, toSlot }: { kept: ListSegments; toSlot: number }): Promise<number> {
    let low = -1;
    let high = kept.newest?.number ?? -1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      const segment = kept.byNumber.get(middle) ?? (await this.#readOne(list, { kept, number: middle }));
      // One that retention took lies before all that are left.
      if (segment === undefined || segment.lastSlot <= toSlot) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Also finds out whether retention took all that is kept, after which a list is numbered anew. */
  async #readNewer(list: string, kept: ListSegments): Promise<void> {
    const known = kept.newest;
    const rows = await this.#store.find(segments, {
      filter: { list, number: { gte: known?.number ?? 0 } },
      order: [{ field: "number", direction: "desc" }],
      limit: SEGMENTS_PER_READ,
    });
    if (known !== undefined) {
      const key = { list, number: known.number };
      const stored = rows.length === SEGMENTS_PER_READ ? await this.#store.get(segments, key) : rows.at(-1);
      if (stored?.number !== known.number || stored.firstSlot !== known.firstSlot) {
        this.#forget(kept);
        kept.newest = undefined;
      }
    }
    for (const row of rows) this.#keep(kept, row);
  }

  #drop(list: string, kept: ListSegments): void {
    this.#forget(kept);
    kept.isDropped = true;
    this.#lists.delete(list);
  }

  #forget(kept: ListSegments): void {
    if (!kept.isDropped) this.#size -= kept.byNumber.size;
    kept.byNumber.clear();
  }

  async #readOne(
    list: string,
    { kept, number }: { kept: ListSegments; number: number },
  ): Promise<RowSegment | undefined> {
    const row = await this.#store.get(segments, { list, number });
    return row && this.#keep(kept, row);
  }

  /** Reads a segment and those before it, which will be asked for next. */
  async #readDown(
    list: string,
    { kept, number }: { kept: ListSegments; number: number },
  ): Promise<RowSegment | undefined> {
    const rows = await this.#store.find(segments, {
      filter: { list, number: { lte: number } },
      order: [{ field: "number", direction: "desc" }],
      limit: SEGMENTS_PER_READ,
    });
    const [first] = rows.map((row) => this.#keep(kept, row));
    return first?.number === number ? first : undefined;
  }

  #listOf(list: string): ListSegments {
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

  #keep(kept: ListSegments, row: SegmentRow): RowSegment {
    const { number, firstSlot, lastSlot, rows } = row;
    const mints = row.mints as string[];
    const segment = { number, firstSlot, lastSlot, rows, mints, counts: row.counts as SegmentCounts };
    if (!kept.byNumber.has(number)) this.#makeRoom(kept);
    kept.byNumber.set(number, segment);
    if (kept.newest === undefined || number > kept.newest.number) kept.newest = segment;
    return segment;
  }

  /** For one more of a list: those lists go first that were not asked for longest, then what is kept of itself. */
  #makeRoom(reading: ListSegments): void {
    if (reading.isDropped) return;
    for (const [list, kept] of this.#lists) {
      if (this.#size < this.#maxSegments) break;
      if (kept !== reading) this.#drop(list, kept);
      else {
        this.#forget(kept);
        break;
      }
    }
    this.#size += 1;
  }
}
