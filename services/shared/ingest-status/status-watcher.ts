import { setTimeout as sleep } from "node:timers/promises";
import type { Store } from "../storage/port.ts";
import { type IngestStatusRow, ingestStatus } from "./status-row.ts";

const POLL_MS = 1_000;
/** An ingest writes at least every ten seconds: after three missed writes it counts as gone. */
const STALE_MS = 30_000;

/** What an ingest last said of a chain. */
export interface ObservedIngest {
  readonly row: IngestStatusRow;
  /** It has not said anything for so long that what it said may no longer be so. */
  readonly isStale: boolean;
}

export interface IngestWatchOptions {
  readonly store: Pick<Store, "get">;
  readonly chainIds: readonly number[];
  readonly onFailure?: (error: unknown, chainId: number) => void;
  readonly pollMs?: number;
  readonly staleMs?: number;
  /** Unix milliseconds. */
  readonly now?: () => number;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs?: () => number;
}

interface Seen {
  readonly row: IngestStatusRow;
  /** When its time of writing was first seen, by this process's own clock. */
  readonly sinceMs: number;
  /** How old it was by then, going by both machines' clocks; 0 where it was seen to change. */
  readonly ageMs: number;
}

/**
 * Reads what the ingest says of each chain, once a second. Whether it is still alive is judged by whether its rows
 * change, so that clocks of two machines need not agree; only the first look has to go by them.
 */
export class IngestWatch {
  readonly #options: IngestWatchOptions;
  readonly #now: () => number;
  readonly #monotonicMs: () => number;
  readonly #seen = new Map<number, Seen>();
  readonly #stop = new AbortController();
  /** Resolves once each chain was looked at, whether the store answered or not. */
  readonly started: Promise<void>;

  constructor(options: IngestWatchOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#monotonicMs = options.monotonicMs ?? (() => performance.now());
    this.started = this.look();
    void this.#poll();
  }

  /** Undefined where no ingest has ever said anything of the chain. */
  current(chainId: number): ObservedIngest | undefined {
    const seen = this.#seen.get(chainId);
    if (seen === undefined) return undefined;
    const ageMs = seen.ageMs + this.#monotonicMs() - seen.sinceMs;
    // Without a source there is nobody to go on reporting.
    const isStale = seen.row.state !== "no_source" && ageMs > (this.#options.staleMs ?? STALE_MS);
    return { row: seen.row, isStale };
  }

  async #poll(): Promise<void> {
    const { signal } = this.#stop;
    const { pollMs = POLL_MS } = this.#options;
    await this.started;
    while (!signal.aborted) {
      await sleep(pollMs, undefined, { signal, ref: false }).catch(() => {});
      if (!signal.aborted) await this.look();
    }
  }

  /** Never rejects. */
  async look(): Promise<void> {
    await Promise.all(this.#options.chainIds.map((chainId) => this.#lookAt(chainId)));
  }

  async #lookAt(chainId: number): Promise<void> {
    const { store, onFailure } = this.#options;
    try {
      const row = await store.get(ingestStatus, { chainId });
      if (row === undefined) {
        this.#seen.delete(chainId);
        return;
      }
      const before = this.#seen.get(chainId);
      if (before?.row.updatedAtMs === row.updatedAtMs) return;
      const ageMs = before === undefined ? Math.max(0, this.#now() - row.updatedAtMs) : 0;
      this.#seen.set(chainId, { row, sinceMs: this.#monotonicMs(), ageMs });
    } catch (error) {
      if (!this.#stop.signal.aborted) onFailure?.(error, chainId);
    }
  }

  close(): void {
    this.#stop.abort();
  }
}
