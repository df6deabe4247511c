import type { Pacer } from "../pacer.ts";

/** Slots fromSlot to toSlot, both inclusive. */
export interface SlotInterval {
  readonly fromSlot: number;
  readonly toSlot: number;
}

/** A run of whole slots whose matching rows are counted: `certain` match, of `uncertain` more only their rows tell. */
export interface CountedRange extends SlotInterval {
  readonly certain: number;
  readonly uncertain: number;
}

/** A list of rows, newest first, of those that match what a request asks for. */
export interface PagedList<Row> {
  /**
   * Counted runs that end at or before slot `toSlot`, the newest first, at most `limit`; what lies between two of them has
   * no row of the list. Fewer than `limit` = there are no more.
   */
  findCounted(toSlot: number, limit: number): Promise<readonly CountedRange[]>;
  find(range: SlotInterval, page: { skip: number; limit: number }): Promise<Row[]>;
  count(range: SlotInterval): Promise<number>;
  /** `count` of a run with rows that are uncertain: it never changes, and may be remembered. */
  recount(run: CountedRange): Promise<number>;
}

/** Runs looked at together: few at first, since most pages need no more. */
const RANGES_PER_READ = { first: 64, most: 1_024 };

/**
 * One page of a list: rows `skip` to `skip + limit` of those in the range, the newest first. Counted runs that lie in
 * the range are passed over by their counts; rows are read where a count cannot tell, and for the page itself.
 */
export async function readPage<Row>(
  list: PagedList<Row>,
  of: { range: SlotInterval; skip: number; limit: number; pacer?: Pacer },
): Promise<Row[]> {
  const reader = new PageReader(list, of);
  for await (const part of splitRange(list, of.range)) {
    await of.pacer?.step();
    if ("certain" in part) await reader.pass(part);
    else await reader.read(part);
    if (reader.wanted === 0) break;
  }
  return reader.finish();
}

/** A range from its end to its beginning: what is newer than every counted run, the runs, what is older. */
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
      // Between two runs is nothing; what is newer than all of them is not counted yet.
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

/** Walks a list from its newest row on: first it skips, then it collects. */
class PageReader<Row> {
  readonly #list: PagedList<Row>;
  readonly #rows: Row[] = [];
  #skip: number;
  #limit: number;
  /** Neighbouring runs that surely hold rows of the page: read in one go. */
  #pending: SlotInterval | undefined;
  #pendingRows = 0;

  constructor(list: PagedList<Row>, of: { skip: number; limit: number }) {
    this.#list = list;
    this.#skip = of.skip;
    this.#limit = of.limit;
  }

  /** Rows that are still to be found. */
  get wanted(): number {
    return Math.max(0, this.#limit - this.#rows.length - this.#pendingRows);
  }

  /** A part of the list of which nothing is known. */
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

  /** A run whose rows are counted. */
  async pass(run: CountedRange): Promise<void> {
    const { certain, uncertain } = run;
    // What lies on its two sides is read apart: nothing in it needs to be walked.
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
