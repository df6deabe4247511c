import type { Cache } from "../../../shared/cache/port.ts";
import type { Log } from "../../../shared/logging/log.ts";
import type { Store } from "../../../shared/storage/port.ts";
import type { CheckpointRow, PoolRow } from "../../store/collections.ts";
import { getCheckpoint, getPools } from "../../store/queries.ts";
import { supports } from "../../views/index.ts";
import {
  REQUESTED,
  requestedSet,
  SNAPSHOT_TTL_MS,
  snapshotKey,
  writeSnapshot,
} from "../../views/snapshot.ts";
import { type HotPool, HotPools } from "./hot-pools.ts";

/** A chain's new head. */
export interface NewHead {
  readonly checkpoint: CheckpointRow;
  /** Pools with events since the head before. */
  readonly touched: readonly PoolRow[];
}

export interface SnapshotWriterDeps {
  readonly store: Store;
  readonly cache: Cache;
  readonly log: Pick<Log, "debug" | "warn">;
  readonly signal: AbortSignal;
  /** Milliseconds; performance.now by default. */
  readonly now?: () => number;
}

/** Snapshots may use this share of the time between two heads, and MAX_MS at most: indexing goes first. */
const SHARE = 0.1;
const MAX_MS = 200;
/** Views read at once; the time limit is checked between two such groups. */
const GROUP = 8;
/** More than any machine computes within the time limit. */
const MAX_REQUESTED = 1_000;

/**
 * Computes the views of hot pools on each new head and puts them into the cache: first those requested within the
 * last hour, then those with events within the last hour, the latest first, until the time is up. Called between two
 * writes of the ingest that owns the chain, so that all it reads belongs to the checkpoint.
 */
export class SnapshotWriter {
  readonly #deps: SnapshotWriterDeps;
  readonly #now: () => number;
  readonly #hot = new HotPools();
  #endedMs: number;

  constructor(deps: SnapshotWriterDeps) {
    this.#deps = deps;
    this.#now = deps.now ?? (() => performance.now());
    this.#endedMs = this.#now();
  }

  /** Never throws: without snapshots, services read the store. */
  async onHead({ checkpoint, touched }: NewHead): Promise<void> {
    const startedMs = this.#now();
    const untilMs = startedMs + Math.min(MAX_MS, SHARE * (startedMs - this.#endedMs));
    const { log } = this.#deps;
    const block = checkpoint.blockNumber;
    this.#hot.touch(touched, checkpoint.blockTime);
    try {
      const { wanted, written } = await this.#writeUntil(untilMs, checkpoint);
      log.debug({ block, wanted, written, ms: Math.round(this.#now() - startedMs) }, "snapshots");
    } catch (err) {
      log.warn({ err, block }, "snapshots could not be written");
    } finally {
      this.#endedMs = this.#now();
    }
  }

  async #writeUntil(
    untilMs: number,
    checkpoint: CheckpointRow,
  ): Promise<{ wanted: number; written: number }> {
    const { store, cache, signal } = this.#deps;
    const { chainId } = checkpoint;
    const requested = await cache.recent(requestedSet(chainId), {
      ttlMs: REQUESTED.ttlMs,
      limit: MAX_REQUESTED,
    });
    const wanted = this.#hot.list(requested);
    let done = 0;
    let written = 0;
    // A cache that is down stores nothing.
    while (done < wanted.length && this.#now() < untilMs && cache.healthy() && !signal.aborted) {
      const group = wanted.slice(done, done + GROUP);
      const entries = await this.#read(group, checkpoint);
      // Another ingest may have taken over, and the rows be of its blocks.
      const stored = await getCheckpoint(store, chainId);
      if (stored?.blockHash !== checkpoint.blockHash) break;
      await cache.setMany(entries, { ttlMs: SNAPSHOT_TTL_MS });
      done += group.length;
      written += entries.length;
    }
    return { wanted: wanted.length, written };
  }

  /** Cache entries; none for a pool without a view, which the service reports itself. */
  async #read(group: readonly HotPool[], checkpoint: CheckpointRow): Promise<(readonly [string, string])[]> {
    const { store, log } = this.#deps;
    const { chainId } = checkpoint;
    const addresses = new Set(group.map((each) => each.poolAddress));
    const pools = await getPools(store, { chainId, addresses: [...addresses] });
    const poolOf = new Map(pools.map((pool) => [pool.poolAddress, pool]));
    const entries = await Promise.all(
      group.map(async ({ poolAddress, view }) => {
        const pool = poolOf.get(poolAddress);
        if (pool === undefined || !supports(view, pool)) return [];
        try {
          const row = await view.read(store, { pool, checkpoint });
          const text = writeSnapshot({ family: pool.family, row, computedAtMs: Date.now() }, checkpoint);
          return [[snapshotKey({ chainId, poolAddress, view: view.name }), text] as const];
        } catch (err) {
          log.debug({ err, poolAddress, view: view.name }, "no snapshot");
          return [];
        }
      }),
    );
    return entries.flat();
  }
}
