import type { Store } from "../../../shared/storage/port.ts";
import type { SegmentCounts } from "../../metrics/segment-counts.ts";
import { type SegmentRow, segments } from "../../store/collections.ts";

/** Consecutive rows of a list, about 4,000, with counts by filter properties. */
export interface RowSegment {
  readonly number: number;
  readonly firstSlot: number;
  readonly lastSlot: number;
  readonly rows: number;
  readonly mints: readonly string[];
  readonly counts: SegmentCounts;
}

/** About 3 KB each. */
const MAX_SEGMENTS = 20_000;
/** Includes lists without a segment, of any requested address. */
const MAX_LISTS = 20_000;
const SEGMENTS_PER_READ = 128;

/** Segments of one list. */
interface ListSegments {
  /** By number, without those not read yet and those that retention deleted. */
  readonly byNumber: Map<number, RowSegment>;
  newest: Pick<RowSegment, "number" | "firstSlot"> | undefined;
  isDropped: boolean;
}

/**
 * Segments of lists in memory. Stored segments never change, so each is read once; every look-up only queries for newer
 * ones.
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

  /** Segments that end at or before a slot, newest first. */
  async before(list: string, query: { toSlot: number; limit: number }): Promise<RowSegment[]> {
    const kept = this.#listOf(list);
    await this.#readNewer(list, kept);
    const found: RowSegment[] = [];
    for (let number = await this.#lastBefore(list, { kept, toSlot: query.toSlot }); number >= 0; number--) {
      if (found.length === query.limit) break;
      const segment = kept.byNumber.get(number) ?? (await this.#readDown(list, { kept, number }));
      // Retention deleted older ones.
      if (segment === undefined) break;
      found.push(segment);
    }
    return found;
  }

  /** Number of the last segment that ends at or before a slot, by binary search; −1 = none. */
  async #lastBefore(list: string, { kept, toSlot }: { kept: ListSegments; toSlot: number }): Promise<number> {
    let low = -1;
    let high = kept.newest?.number ?? -1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      const segment = kept.byNumber.get(middle) ?? (await this.#readOne(list, { kept, number: middle }));
      // A deleted one lies before all that remain.
      if (segment === undefined || segment.lastSlot <= toSlot) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Also detects that retention deleted all segments, after which a list is numbered from 0 again. */
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

  /** Reads a segment and those before it, which are needed next. */
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
    // Becomes the most recently used.
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

  /** Makes room for one more segment: evicts the least recently used lists, then the list's own segments. */
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
