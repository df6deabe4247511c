import type { Pacer } from "../../../shared/service/pacer.ts";

/** Slots fromSlot to toSlot, both inclusive. */
export interface SlotInterval {
  readonly fromSlot: number;
  readonly toSlot: number;
}

/** Whole slots with counted rows: `certain` match; of `uncertain` more, only the rows themselves decide. */
export interface CountedRange extends SlotInterval {
  readonly certain: number;
  readonly uncertain: number;
}

/** Rows that match a request, newest first. */
export interface PagedList<Row> {
  /**
   * Counted ranges that end at or before `toSlot`, newest first, at most `limit`; slots between two of them have no row
   * of the list. Fewer than `limit` = there are no more.
   */
  findCounted(toSlot: number, limit: number): Promise<readonly CountedRange[]>;
  find(range: SlotInterval, page: { skip: number; limit: number }): Promise<Row[]>;
  count(range: SlotInterval): Promise<number>;
  /** `count` of a range with uncertain rows: it never changes, and may be cached. */
  recount(range: CountedRange): Promise<number>;
}

/** Ranges read together: few at first, since most pages need no more. */
const RANGES_PER_READ = { first: 64, most: 1_024 };

/**
 * One page of a list: rows `skip` to `skip + limit` of the interval, newest first. Counted ranges are skipped by their
 * counts; rows are read where counts do not decide, and for the page itself.
 */
export async function readPage<Row>(
  list: PagedList<Row>,
  query: { range: SlotInterval; skip: number; limit: number; pacer?: Pacer },
): Promise<Row[]> {
  const reader = new PageReader(list, query);
  for await (const part of splitRange(list, query.range)) {
    await query.pacer?.step();
    if ("certain" in part) await reader.pass(part);
    else await reader.read(part);
    if (reader.wanted === 0) break;
  }
  return reader.finish();
}

/** An interval from its end to its beginning: slots newer than every counted range, the counted ranges, older slots. */
async function* splitRange<Row>(
  list: PagedList<Row>,
  range: SlotInterval,
): AsyncGenerator<CountedRange | SlotInterval, void, undefined> {
  let toSlot = range.toSlot;
  let isTail = true;
  let atOnce = RANGES_PER_READ.first;
  while (toSlot >= range.fromSlot) {
    const runs = await list.findCounted(toSlot, atOnce);
    for (const run of runs) {
      // No rows lie between two ranges; slots newer than all of them are not counted yet.
      if (isTail && run.toSlot < toSlot) yield { fromSlot: Math.max(range.fromSlot, run.toSlot + 1), toSlot };
      isTail = false;
      if (run.toSlot < range.fromSlot) return;
      yield run.fromSlot < range.fromSlot ? { fromSlot: range.fromSlot, toSlot: run.toSlot } : run;
      toSlot = run.fromSlot - 1;
    }
    const hasMore = runs.length === atOnce;
    atOnce = Math.min(2 * atOnce, RANGES_PER_READ.most);
    if (hasMore) continue;
    if (toSlot >= range.fromSlot) yield { fromSlot: range.fromSlot, toSlot };
    return;
  }
}

/** Reads a list from its newest row on: first skips rows, then collects them. */
class PageReader<Row> {
  readonly #list: PagedList<Row>;
  readonly #rows: Row[] = [];
  #skip: number;
  #limit: number;
  /** Adjacent ranges with rows of the page: read at once. */
  #pending: SlotInterval | undefined;
  #pendingRows = 0;

  constructor(list: PagedList<Row>, query: { skip: number; limit: number }) {
    this.#list = list;
    this.#skip = query.skip;
    this.#limit = query.limit;
  }

  /** Rows still missing from the page. */
  get wanted(): number {
    return Math.max(0, this.#limit - this.#rows.length - this.#pendingRows);
  }

  /** Slots without counts. */
  async read(range: SlotInterval): Promise<void> {
    await this.#readPending();
    if (this.wanted === 0) return;
    if (this.#skip > 0) {
      const rows = await this.#list.count(range);
      if (rows <= this.#skip) {
        this.#skip -= rows;
        return;
      }
    }
    await this.#collect(range);
  }

  /** A counted range. */
  async pass(run: CountedRange): Promise<void> {
    const { certain, uncertain } = run;
    // Its neighbours are read separately: none of its rows needs to be read.
    if (certain + uncertain === 0) return this.#readPending();
    if (this.#skip > 0) {
      const rows = uncertain === 0 ? certain : await this.#list.recount(run);
      if (rows <= this.#skip) {
        this.#skip -= rows;
        return;
      }
    }
    if (uncertain > 0 || this.#skip > 0) {
      await this.#readPending();
      if (this.wanted > 0) await this.#collect(run);
      return;
    }
    this.#pending = { fromSlot: run.fromSlot, toSlot: this.#pending?.toSlot ?? run.toSlot };
    this.#pendingRows += certain;
  }

  async finish(): Promise<Row[]> {
    await this.#readPending();
    return this.#rows;
  }

  async #readPending(): Promise<void> {
    const range = this.#pending;
    this.#pending = undefined;
    this.#pendingRows = 0;
    if (range !== undefined) await this.#collect(range);
  }

  async #collect(range: SlotInterval): Promise<void> {
    const page = { skip: this.#skip, limit: this.#limit - this.#rows.length };
    this.#rows.push(...(await this.#list.find(range, page)));
    this.#skip = 0;
  }
}
