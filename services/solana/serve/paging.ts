import type { Pacer } from "./pacer.ts";

/** Slots lo to hi, both inclusive. */
export interface SlotRange {
  readonly lo: number;
  readonly hi: number;
}

/** A run of whole slots whose matching rows are counted: `sure` match, of `unsure` more only their rows tell. */
export interface Counted extends SlotRange {
  readonly sure: number;
  readonly unsure: number;
}

/** A list of rows, newest first, of those that match what a request asks for. */
export interface PagedList<Row> {
  /**
   * Counted runs that end at or before slot `hi`, the newest first, at most `limit`; what lies between two of them has
   * no row of the list. Fewer than `limit` = there are no more.
   */
  counted(hi: number, limit: number): Promise<readonly Counted[]>;
  find(range: SlotRange, page: { skip: number; limit: number }): Promise<Row[]>;
  count(range: SlotRange): Promise<number>;
  /** `count` of a run with rows that are unsure: it never changes, and may be remembered. */
  recount(run: Counted): Promise<number>;
}

/** Runs looked at together: few at first, since most pages need no more. */
const RUNS_AT_ONCE = { first: 64, most: 1_024 };

/**
 * One page of a list: rows `skip` to `skip + limit` of those in the range, the newest first. Counted runs that lie in
 * the range are passed over by their counts; rows are read where a count cannot tell, and for the page itself.
 */
export async function readPage<Row>(
  list: PagedList<Row>,
  of: { range: SlotRange; skip: number; limit: number; pacer?: Pacer },
): Promise<Row[]> {
  const reader = new PageReader(list, of);
  for await (const part of partsOf(list, of.range)) {
    await of.pacer?.step();
    if ("sure" in part) await reader.pass(part);
    else await reader.read(part);
    if (reader.wanted === 0) break;
  }
  return reader.finish();
}

/** A range from its end to its beginning: what is newer than every counted run, the runs, what is older. */
async function* partsOf<Row>(
  list: PagedList<Row>,
  range: SlotRange,
): AsyncGenerator<Counted | SlotRange, void, undefined> {
  let hi = range.hi;
  let isTail = true;
  let atOnce = RUNS_AT_ONCE.first;
  while (hi >= range.lo) {
    const runs = await list.counted(hi, atOnce);
    for (const run of runs) {
      // Between two runs is nothing; what is newer than all of them is not counted yet.
      if (isTail && run.hi < hi) yield { lo: Math.max(range.lo, run.hi + 1), hi };
      isTail = false;
      if (run.hi < range.lo) return;
      yield run.lo < range.lo ? { lo: range.lo, hi: run.hi } : run;
      hi = run.lo - 1;
    }
    const hasMore = runs.length === atOnce;
    atOnce = Math.min(2 * atOnce, RUNS_AT_ONCE.most);
    if (hasMore) continue;
    if (hi >= range.lo) yield { lo: range.lo, hi };
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
  #pending: SlotRange | undefined;
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
  async read(range: SlotRange): Promise<void> {
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
  async pass(run: Counted): Promise<void> {
    const { sure, unsure } = run;
    // What lies on its two sides is read apart: nothing in it needs to be walked.
    if (sure + unsure === 0) return this.#readPending();
    if (this.#skip > 0) {
      const rows = unsure === 0 ? sure : await this.#list.recount(run);
      if (rows <= this.#skip) {
        this.#skip -= rows;
        return;
      }
    }
    if (unsure > 0 || this.#skip > 0) {
      await this.#readPending();
      if (this.wanted > 0) await this.#collect(run);
      return;
    }
    this.#pending = { lo: run.lo, hi: this.#pending?.hi ?? run.hi };
    this.#pendingRows += sure;
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

  async #collect(range: SlotRange): Promise<void> {
    const page = { skip: this.#skip, limit: this.#limit - this.#rows.length };
    this.#rows.push(...(await this.#list.find(range, page)));
    this.#skip = 0;
  }
}
