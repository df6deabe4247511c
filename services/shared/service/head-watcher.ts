import { setTimeout as sleep } from "node:timers/promises";

/** What a store says of how far a chain is indexed. */
export interface Checkpoint {
  readonly chainId: number;
}

/** Where each chain stands, without asking the store. */
export interface Heads<C extends Checkpoint> {
  /** The checkpoint as last seen; undefined where nothing is indexed, or nothing was seen for long. */
  current(chainId: number): C | undefined;
  /** Tells what a read saw that began at `startedMs` (performance.now): what it began before is not taken back. */
  observe(checkpoint: C, startedMs: number): void;
}

/** How long ago each head was confirmed, for metrics. */
export interface HeadAges {
  /** Seconds since the checkpoint was last seen to be the one that is told; undefined before that. */
  ageSeconds(chainId: number): number | undefined;
}

export interface HeadWatcherOptions<C extends Checkpoint> {
  /** One row of the store by its key; undefined while the chain has none. */
  readonly read: (chainId: number) => Promise<C | undefined>;
  /** Whether any block is indexed: a checkpoint may stand before the first one. */
  readonly hasData: (checkpoint: C) => boolean;
  readonly chainIds: readonly number[];
  /** Told once an outage. */
  readonly onFailure?: (error: unknown, chainId: number) => void;
  readonly pollMs?: number;
  /** What was seen longer ago than this is not known any more; 2 s by default. */
  readonly trustMs?: number;
}

const POLL_MS = 100;
const TRUST_MS = 2_000;

interface Seen<C> {
  readonly checkpoint: C;
  readonly startedMs: number;
}

/**
 * Reads the checkpoint of each chain ten times a second, one row by its key, so that requests need not. The store is
 * asked and no cache: a head that a cache tells could be one that an ingest cut off from it has long passed.
 */
export class HeadWatcher<C extends Checkpoint> implements Heads<C>, HeadAges {
  readonly #options: HeadWatcherOptions<C>;
  readonly #seen = new Map<number, Seen<C>>();
  readonly #answered = new Set<number>();
  readonly #stop = new AbortController();
  /** Resolves once each chain was looked at, whether the store answered or not. */
  readonly started: Promise<void>;

  constructor(options: HeadWatcherOptions<C>) {
    this.#options = options;
    const first = options.chainIds.map(
      (chainId) => new Promise<void>((resolve) => this.#poll(chainId, resolve)),
    );
    this.started = Promise.all(first).then(() => {});
  }

  current(chainId: number): C | undefined {
    const seen = this.#seen.get(chainId);
    const trustMs = this.#options.trustMs ?? TRUST_MS;
    if (seen === undefined || performance.now() - seen.startedMs > trustMs) return undefined;
    return this.#options.hasData(seen.checkpoint) ? seen.checkpoint : undefined;
  }

  /** The checkpoint as last seen, however long ago and whether or not a block is indexed; undefined once it is gone. */
  last(chainId: number): C | undefined {
    return this.#seen.get(chainId)?.checkpoint;
  }

  /** Whether the store has ever told anything of the chain: that it has none of it, too. */
  hasAnswered(chainId: number): boolean {
    return this.#answered.has(chainId);
  }

  observe(checkpoint: C, startedMs: number): void {
    const seen = this.#seen.get(checkpoint.chainId);
    if (seen !== undefined && seen.startedMs > startedMs) return;
    this.#seen.set(checkpoint.chainId, { checkpoint, startedMs });
  }

  /** The index was deleted: what was seen of it before counts no more. */
  #sawNone(chainId: number, startedMs: number): void {
    const seen = this.#seen.get(chainId);
    if (seen !== undefined && seen.startedMs <= startedMs) this.#seen.delete(chainId);
  }

  ageSeconds(chainId: number): number | undefined {
    const seen = this.#seen.get(chainId);
    return seen && (performance.now() - seen.startedMs) / 1000;
  }

  async #poll(chainId: number, onFirst: () => void): Promise<void> {
    const { signal } = this.#stop;
    const { read, onFailure, pollMs = POLL_MS } = this.#options;
    let failing = false;
    while (!signal.aborted) {
      try {
        const startedMs = performance.now();
        const checkpoint = await read(chainId);
        if (signal.aborted) break;
        if (checkpoint !== undefined) this.observe(checkpoint, startedMs);
        else this.#sawNone(chainId, startedMs);
        this.#answered.add(chainId);
        failing = false;
      } catch (error) {
        if (!failing && !signal.aborted) onFailure?.(error, chainId);
        failing = true;
      }
      onFirst();
      await sleep(pollMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  close(): void {
    this.#stop.abort();
    this.#seen.clear();
  }
}
