import { setTimeout as sleep } from "node:timers/promises";
import type { Store } from "../../shared/storage/port.ts";
import type { CheckpointRow } from "../store/collections.ts";
import { getCheckpoint } from "../store/queries.ts";
import { hasData } from "./head.ts";

/** Where each chain stands, without asking the store. */
export interface Heads {
  /** The checkpoint as last seen; undefined where nothing is indexed, or nothing was seen for long. */
  current(chainId: number): CheckpointRow | undefined;
  /** Tells what a read saw that began at `startedMs` (performance.now): what it began before is not taken back. */
  saw(checkpoint: CheckpointRow, startedMs: number): void;
}

export interface HeadWatcherOptions {
  readonly store: Store;
  readonly chainIds: readonly number[];
  /** Told once an outage. */
  readonly onFailure?: (error: unknown, chainId: number) => void;
  readonly pollMs?: number;
  /** What was seen longer ago than this is not known any more; 2 s by default. */
  readonly trustMs?: number;
}

const POLL_MS = 100;
const TRUST_MS = 2_000;

interface Seen {
  /** Undefined: the chain has no indexed block. */
  readonly checkpoint: CheckpointRow | undefined;
  readonly startedMs: number;
}

/**
 * Reads the checkpoint of each chain ten times a second, one row by its key, so that requests need not. The store is
 * asked and no cache: a head that a cache tells could be one that an ingest cut off from it has long passed.
 */
export class HeadWatcher implements Heads {
  readonly #store: Store;
  readonly #trustMs: number;
  readonly #onFailure: (error: unknown, chainId: number) => void;
  readonly #seen = new Map<number, Seen>();
  readonly #stop = new AbortController();

  constructor(options: HeadWatcherOptions) {
    this.#store = options.store;
    this.#trustMs = options.trustMs ?? TRUST_MS;
    this.#onFailure = options.onFailure ?? (() => {});
    for (const chainId of options.chainIds) void this.#poll(chainId, options.pollMs ?? POLL_MS);
  }

  current(chainId: number): CheckpointRow | undefined {
    const seen = this.#seen.get(chainId);
    if (seen === undefined || performance.now() - seen.startedMs > this.#trustMs) return undefined;
    return seen.checkpoint;
  }

  saw(checkpoint: CheckpointRow, startedMs: number): void {
    const seen = this.#seen.get(checkpoint.chainId);
    if (seen !== undefined && seen.startedMs > startedMs) return;
    const known = hasData(checkpoint) ? checkpoint : undefined;
    this.#seen.set(checkpoint.chainId, { checkpoint: known, startedMs });
  }

  /** Seconds since the checkpoint was last seen to be the one that `current` tells; undefined before that. */
  ageSeconds(chainId: number): number | undefined {
    const seen = this.#seen.get(chainId);
    return seen && (performance.now() - seen.startedMs) / 1000;
  }

  async #poll(chainId: number, pollMs: number): Promise<void> {
    const { signal } = this.#stop;
    let failing = false;
    while (!signal.aborted) {
      try {
        const startedMs = performance.now();
        const checkpoint = await getCheckpoint(this.#store, chainId);
        if (checkpoint !== undefined) this.saw(checkpoint, startedMs);
        failing = false;
      } catch (error) {
        if (!failing && !signal.aborted) this.#onFailure(error, chainId);
        failing = true;
      }
      await sleep(pollMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  close(): void {
    this.#stop.abort();
    this.#seen.clear();
  }
}
