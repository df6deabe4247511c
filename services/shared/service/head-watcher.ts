import { setTimeout as sleep } from "node:timers/promises";

/** How far a chain is indexed, as the store has it. */
export interface Checkpoint {
  readonly chainId: number;
}

/** The checkpoint of each chain, without a read of the store. */
export interface Heads<C extends Checkpoint> {
  /** The latest checkpoint; undefined if nothing is indexed or the latest read is too old. */
  current(chainId: number): C | undefined;
  /** Adds the result of a read that began at `startedMs` (performance.now); an older read does not replace a newer one. */
  observe(checkpoint: C, startedMs: number): void;
}

/** How long ago each head was confirmed, for metrics. */
export interface HeadAges {
  /** Seconds since the checkpoint was last confirmed; undefined before that. */
  ageSeconds(chainId: number): number | undefined;
}

export interface HeadWatcherOptions<C extends Checkpoint> {
  /** One row of the store by its key; undefined while the chain has none. */
  readonly read: (chainId: number) => Promise<C | undefined>;
  /** Whether any block is indexed: a checkpoint may exist before the first one. */
  readonly hasData: (checkpoint: C) => boolean;
  readonly chainIds: readonly number[];
  /** Called once for each outage. */
  readonly onFailure?: (error: unknown, chainId: number) => void;
  readonly pollMs?: number;
  /** The same while somebody watches. */
  readonly watchedPollMs?: number;
  /** A checkpoint older than this is not used; 2 s by default. */
  readonly trustMs?: number;
}

const POLL_MS = 100;
/** Half of it is the wait of a live stream for each block; a read of one row by its key takes some 0.1 ms. */
const WATCHED_POLL_MS = 20;
const TRUST_MS = 2_000;

interface ObservedCheckpoint<C> {
  readonly checkpoint: C;
  readonly startedMs: number;
}

/**
 * Reads the checkpoint of each chain ten times a second, one row by its key, so that requests need not; more often while
 * live streams wait for it. It reads the store
 * and never a cache: an ingest that lost the cache may be far ahead of the head in it.
 */
export class HeadWatcher<C extends Checkpoint> implements Heads<C>, HeadAges {
  readonly #options: HeadWatcherOptions<C>;
  readonly #seen = new Map<number, ObservedCheckpoint<C>>();
  readonly #answered = new Set<number>();
  readonly #stop = new AbortController();
  readonly #watchers = new Set<(chainId: number) => void>();
  /** Resolves after the first read of each chain, whether it succeeded or not. */
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

  /** The latest checkpoint, however old and whether or not a block is indexed; undefined once it is deleted. */
  last(chainId: number): C | undefined {
    return this.#seen.get(chainId)?.checkpoint;
  }

  /** Whether any read of the chain has succeeded, also without a checkpoint. */
  hasAnswered(chainId: number): boolean {
    return this.#answered.has(chainId);
  }

  observe(checkpoint: C, startedMs: number): void {
    const seen = this.#seen.get(checkpoint.chainId);
    if (seen !== undefined && seen.startedMs > startedMs) return;
    this.#seen.set(checkpoint.chainId, { checkpoint, startedMs });
  }

  /** Calls back after every read, and reads more often, until the returned function is called. */
  watch(notify: (chainId: number) => void): () => void {
    this.#watchers.add(notify);
    return () => void this.#watchers.delete(notify);
  }

  /** The index was deleted: earlier checkpoints are dropped. */
  #observeNone(chainId: number, startedMs: number): void {
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
    const { watchedPollMs = Math.min(pollMs, WATCHED_POLL_MS) } = this.#options;
    let failing = false;
    while (!signal.aborted) {
      try {
        const startedMs = performance.now();
        const checkpoint = await read(chainId);
        if (signal.aborted) break;
        if (checkpoint !== undefined) this.observe(checkpoint, startedMs);
        else this.#observeNone(chainId, startedMs);
        this.#answered.add(chainId);
        failing = false;
        for (const notify of this.#watchers) notify(chainId);
      } catch (error) {
        if (!failing && !signal.aborted) onFailure?.(error, chainId);
        failing = true;
      }
      onFirst();
      const pauseMs = this.#watchers.size > 0 ? watchedPollMs : pollMs;
      await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  close(): void {
    this.#stop.abort();
    this.#seen.clear();
  }
}
