import type { BlockBatch } from "./fetch/block-batch.ts";
import type { Indexer, Waiting } from "./state/indexer.ts";

/**
 * A write touches some pages of each pool, bucket and user, however many events it has of them: where pools trade again and
 * again, more events together cost less of each, and write fewer bytes. They are what a kill undoes, and their rows are in
 * memory (decisions 131 and 132).
 */
export const MOST_EVENTS = 40_000;
/**
 * Of so many pools more events are waited for only where each has had some: else few would be of the same ones. The entry of
 * a pool that waits takes some 2 KB of memory.
 */
export const MANY_POOLS = 5_000;
export const LEAST_OF_A_POOL = 3;
/** So long at most events wait for others. */
const MOST_MS = 5_000;
/** And so long where reading takes more than half of the time: then writing need not be cheap. */
const SLOW_SOURCE_MS = 250;

/** How much may wait for a write: events, or milliseconds at most, and where the source is slow. */
export interface Patience {
  readonly mostEvents?: number;
  readonly mostMs?: number;
  readonly slowMs?: number;
}

/** Whether what waits is enough for a write. */
export function isEnough({ events, pools }: Waiting, mostEvents = MOST_EVENTS): boolean {
  return events >= mostEvents || (pools >= MANY_POOLS && events < LEAST_OF_A_POOL * pools);
}

/**
 * The batches that an indexer has added since its last write. While one is being added or written, and after that has
 * failed, the indexer is broken: it is neither at the checkpoint nor at the end of a batch, and must be loaded anew.
 */
export class Unwritten {
  readonly #mostEvents: number;
  readonly #mostMs: number;
  readonly #slowMs: number;
  #last: BlockBatch | undefined;
  #events = 0;
  #sinceMs = 0;
  #waitedMs = 0;
  #isBroken = false;

  constructor({ mostEvents = MOST_EVENTS, mostMs = MOST_MS, slowMs = SLOW_SOURCE_MS }: Patience = {}) {
    this.#mostEvents = mostEvents;
    this.#mostMs = mostMs;
    this.#slowMs = slowMs;
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
    const ageMs = performance.now() - this.#sinceMs;
    const isSlow = 2 * this.#waitedMs > ageMs;
    return (
      ageMs >= (isSlow ? this.#slowMs : this.#mostMs) ||
      isEnough(waiting, this.#mostEvents) ||
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
