import type { BlockBatch } from "./fetch/block-batch.ts";
import type { Indexer, Waiting } from "./state/indexer.ts";

/**
 * A write touches some pages of each pool, bucket and user, however many events it has of them: where pools trade again and
 * again, more events together cost less of each, and write fewer bytes. They are what a kill undoes, and their rows are in
 * memory (decisions 131 and 132).
 */
export const MOST_EVENTS = 40_000;
/** Of so many pools a write is sparse where each has had less than so many events: few are of the same ones. */
export const MANY_POOLS = 5_000;
export const LEAST_OF_A_POOL = 3;
/** So long at most events wait for others. */
const MOST_MS = 5_000;
/** And so long where reading takes more than half of the time: then writing need not be cheap. */
const SLOW_SOURCE_MS = 250;

/** How much may wait for a write: events, or milliseconds at most, and where the source is slow. */
export interface Patience {
  readonly mostEvents?: number;
  /** Events of a sparse write. Absent = none wait for others: the entry of each pool that waits takes some 2 KB of memory. */
  readonly mostSparse?: number;
  readonly mostMs?: number;
  readonly slowMs?: number;
}

/**
 * Of an index that goes on. Where it has many pools, each of their users and buckets is stored on a page of its own, and the
 * more events are written together the more of them share one (decision 143). In a backfill as many again are being written
 * meanwhile (decision 144).
 */
export const OVER_AN_INDEX: Patience = { mostSparse: 30_000, mostMs: 10_000 };

/** Whether what waits is enough for a write. */
export function isEnough(
  { events, pools }: Waiting,
  { mostEvents = MOST_EVENTS, mostSparse = 0 }: Patience = {},
): boolean {
  const isSparse = pools >= MANY_POOLS && events < LEAST_OF_A_POOL * pools;
  return events >= (isSparse ? mostSparse : mostEvents);
}

/**
 * The batches that an indexer has added since its last write. While one is being added or written, and after that has
 * failed, the indexer is broken: it is neither at the checkpoint nor at the end of a batch, and must be loaded anew.
 */
export class Unwritten {
  readonly #patience: Patience;
  #last: BlockBatch | undefined;
  #events = 0;
  #sinceMs = 0;
  #waitedMs = 0;
  #isBroken = false;

  constructor(patience: Patience = {}) {
    this.#patience = patience;
  }

  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** The last of them; undefined where all is written. */
  get last(): BlockBatch | undefined {
    return this.#last;
  }

  /** Adds a prepared batch. */
  add(indexer: Pick<Indexer, "addAnswers" | "addBlock">, batch: BlockBatch): void {
    this.#isBroken = true;
    indexer.addAnswers(batch.answers);
    for (const block of batch.blocks) {
      indexer.addBlock(block);
      this.#events += block.events.length;
    }
    if (this.#last === undefined) {
      this.#sinceMs = performance.now();
      this.#waitedMs = 0;
    }
    this.#last = batch;
    this.#isBroken = false;
  }

  /** Is told how long the source was waited for. */
  noteWait(ms: number): void {
    this.#waitedMs += ms;
  }

  /** Whether they are to be written now. Near the head each batch is, whose headers tell forks. */
  isDue(waiting: Waiting): boolean {
    if (this.#last === undefined) return false;
    const { mostMs = MOST_MS, slowMs = SLOW_SOURCE_MS } = this.#patience;
    const ageMs = performance.now() - this.#sinceMs;
    const isSlow = 2 * this.#waitedMs > ageMs;
    return (
      ageMs >= (isSlow ? slowMs : mostMs) ||
      isEnough(waiting, this.#patience) ||
      this.#last.headers.length > 0
    );
  }

  /** What is to be written, if anything; `settle` follows when it is. */
  take(): { readonly batch: BlockBatch; readonly events: number } | undefined {
    if (this.#isBroken || this.#last === undefined) return undefined;
    const taken = { batch: this.#last, events: this.#events };
    this.#last = undefined;
    this.#events = 0;
    this.#isBroken = true;
    return taken;
  }

  /** What was taken is on its way: more may be added. */
  settle(): void {
    this.#isBroken = false;
  }

  /** What was taken could not be written: what was added since stands on nothing. */
  fail(): void {
    this.clear();
    this.#isBroken = true;
  }

  /** Forgets all: the indexer was loaded anew. */
  clear(): void {
    this.#last = undefined;
    this.#events = 0;
    this.#isBroken = false;
  }
}
