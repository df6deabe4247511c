import type { Store } from "../../shared/storage/port.ts";
import type { BlockBatch } from "./fetch/block-batch.ts";
import type { Indexer, Waiting } from "./state/indexer.ts";

/**
 * A write touches some pages of each pool, bucket and user, however many events it has of them: where pools trade again and
 * again, more events together cost less of each, and write fewer bytes. They are what a kill undoes (decisions 131 and 132).
 */
export const MOST_EVENTS = 40_000;
/** Of so many pools a write is sparse where each has had less than so many events: few are of the same ones. */
export const MANY_POOLS = 5_000;
export const LEAST_OF_A_POOL = 3;
/**
 * So long at most events wait for others, also where the source is slow: written each quarter of a second, a day of Base was 116 GB
 * in place of some 30 (decision 148). A kill has that much read again.
 */
const MOST_MS = 30_000;

/**
 * What takes memory until it is written (measured, decisions 147 and 148): a pool's entry, any known pool, and an event, of which there are
 * as many again that are being written. Rows beyond the first ones wait in a file.
 */
const WAITING_POOL_BYTES = 1_700;
const KNOWN_POOL_BYTES = 100;
const EVENT_BYTES = 770;
/** Where rows wait as objects, and not in a file. */
const EVENT_OBJECT_BYTES = 1_200;

/** How much may wait for a write: events, memory, or milliseconds. */
export interface Patience {
  readonly mostEvents?: number;
  /** Of memory for pools, known and waiting, and for events. Absent = no event of a sparse write waits for others. */
  readonly mostBytes?: number;
  /** Of an event; absent = its row waits in a file. */
  readonly eventBytes?: number;
  readonly mostMs?: number | undefined;
}

/** With this a whole day of Base takes less than 400 MB in all, and so does an ingest of 300,000 pools with events (decisions 144 and 148). */
const MOST_BYTES = 90_000_000;

/**
 * Of an index that goes on. Each user, bucket and state is stored on a page of its own: the more events are written together, the
 * more of them share one (decision 146). A kill undoes them, and a stop waits for them.
 */
const OVER_AN_INDEX: Patience = { mostEvents: 200_000, mostBytes: MOST_BYTES };

/** The same where rows wait as objects. */
const OVER_AN_INDEX_OF_OBJECTS: Patience = { mostBytes: MOST_BYTES, eventBytes: EVENT_OBJECT_BYTES };

export function patienceOver({ engine }: Pick<Store, "engine">, mostMs?: number): Patience {
  return { ...(engine === "sqlite" ? OVER_AN_INDEX : OVER_AN_INDEX_OF_OBJECTS), mostMs };
}

/** Whether what waits is enough for a write. */
export function isEnough(
  { events, pools, known }: Waiting,
  { mostEvents = MOST_EVENTS, mostBytes, eventBytes = EVENT_BYTES }: Patience = {},
): boolean {
  if (events >= mostEvents) return true;
  if (pools < MANY_POOLS) return false;
  if (mostBytes === undefined) return events < LEAST_OF_A_POOL * pools;
  return events * eventBytes + pools * WAITING_POOL_BYTES + known * KNOWN_POOL_BYTES >= mostBytes;
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
    if (this.#last === undefined) this.#sinceMs = performance.now();
    this.#last = batch;
    this.#isBroken = false;
  }

  /** Whether they are to be written now. Near the head each batch is, whose headers tell forks. */
  isDue(waiting: Waiting): boolean {
    if (this.#last === undefined) return false;
    const { mostMs = MOST_MS } = this.#patience;
    return (
      performance.now() - this.#sinceMs >= mostMs ||
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
