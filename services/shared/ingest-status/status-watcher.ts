import { setTimeout as sleep } from "node:timers/promises";
import type { Store } from "../storage/port.ts";
import { type IngestStatusRow, ingestStatus } from "./status-row.ts";

const POLL_MS = 1_000;
/** An ingest writes at least every ten seconds: after three missed writes it counts as gone. */
const STALE_MS = 30_000;

/** An ingest's latest status of a chain. */
export interface ObservedIngest {
  readonly row: IngestStatusRow;
  /** No update for so long that the status may be outdated. */
  readonly isStale: boolean;
}

export interface IngestStatusWatcherOptions {
  readonly store: Pick<Store, "get">;
  readonly chainIds: readonly number[];
  readonly onFailure?: (error: unknown, chainId: number) => void;
  readonly pollMs?: number;
  readonly staleMs?: number;
  /** Unix milliseconds. */
  readonly now?: () => number;
  /** A monotonic clock. */
  readonly monotonicMs?: () => number;
}

interface ObservedRow {
  readonly row: IngestStatusRow;
  /** When this `updatedAtMs` was first seen, by this process's clock. */
  readonly sinceMs: number;
  /** Its age at that time by both machines' clocks; 0 if the change was observed. */
  readonly ageMs: number;
}

/**
 * Reads the ingest's status of each chain once a second. The ingest counts as alive while its rows change, so that the
 * clocks of two machines need not agree; only the first read has to compare them.
 */
export class IngestStatusWatcher {
  readonly #options: IngestStatusWatcherOptions;
  readonly #now: () => number;
  readonly #monotonicMs: () => number;
  readonly #seen = new Map<number, ObservedRow>();
  readonly #stop = new AbortController();
  /** Resolves after the first read of each chain, whether it succeeded or not. */
  readonly started: Promise<void>;

  constructor(options: IngestStatusWatcherOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#monotonicMs = options.monotonicMs ?? (() => performance.now());
    this.started = this.refresh();
    void this.#poll();
  }

  /** Undefined if no ingest has ever reported the chain. */
  current(chainId: number): ObservedIngest | undefined {
    const seen = this.#seen.get(chainId);
    if (seen === undefined) return undefined;
    const ageMs = seen.ageMs + this.#monotonicMs() - seen.sinceMs;
    // Without a source no ingest reports again.
    const isStale = seen.row.state !== "no_source" && ageMs > (this.#options.staleMs ?? STALE_MS);
    return { row: seen.row, isStale };
  }

  async #poll(): Promise<void> {
    const { signal } = this.#stop;
    const { pollMs = POLL_MS } = this.#options;
    await this.started;
    while (!signal.aborted) {
      await sleep(pollMs, undefined, { signal, ref: false }).catch(() => {});
      if (!signal.aborted) await this.refresh();
    }
  }

  /** Never rejects. */
  async refresh(): Promise<void> {
    await Promise.all(this.#options.chainIds.map((chainId) => this.#refreshChain(chainId)));
  }

  async #refreshChain(chainId: number): Promise<void> {
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
