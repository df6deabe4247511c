import { put, remove, removeWhere, type Store, type WriteStep } from "../../shared/storage/port.ts";
import {
  type CheckpointRow,
  checkpoints,
  type HeaderRow,
  headers,
  type PoolFeeRow,
  poolEvents,
  poolFees,
  poolListings,
  poolStates,
  pools,
  poolUsers,
  rollups,
  type TokenPriceRow,
  tokenPrices,
  tokens,
} from "../store/collections.ts";
import { toListing } from "../views/pool-listing.ts";
import type { Indexer, Taken } from "./indexer.ts";
import { toStateRow } from "./state/pool-book.ts";

/** Headers kept behind the checkpoint: how deep a reorg can be healed. */
export const KEPT_HEADERS = 512;

export interface Progress {
  readonly checkpoint: CheckpointRow;
  /** Fees read at the checkpoint or before. */
  readonly fees: readonly PoolFeeRow[];
  /** Headers up to the checkpoint; empty during backfill, far behind the head. */
  readonly headers: readonly HeaderRow[];
}

/** Steps that fail a write once another process holds the lease. */
export type Guard = () => readonly WriteStep[];

/** Remembers which prices are stored, so that only those that changed are written. */
export class PriceWriter {
  readonly #stored = new Map<string, TokenPriceRow>();

  constructor(rows: readonly TokenPriceRow[]) {
    for (const row of rows) this.#stored.set(row.token, row);
  }

  steps(indexer: Indexer): WriteStep[] {
    const changed: TokenPriceRow[] = [];
    const prices = indexer.prices.all();
    for (const [token, price] of prices) {
      const row = {
        chainId: indexer.chainId,
        token,
        ...price,
        depthUsd: Math.min(price.depthUsd, Number.MAX_VALUE),
      };
      if (isSame(this.#stored.get(token), row)) continue;
      this.#stored.set(token, row);
      changed.push(row);
    }
    const gone = [...this.#stored.keys()].filter((token) => !prices.has(token));
    for (const token of gone) this.#stored.delete(token);
    return [
      put(tokenPrices, changed),
      remove(
        tokenPrices,
        gone.map((token) => ({ chainId: indexer.chainId, token })),
      ),
    ];
  }
}

/**
 * Stores what an indexer took in: rows first, then what derives from them as whole rows, the checkpoint last.
 * One transaction on SQLite; on MongoDB an interrupted write is undone from the rows beyond the checkpoint.
 */
export async function writeProgress(
  store: Store,
  of: { indexer: Indexer; taken: Taken; prices: PriceWriter; progress: Progress; guard: Guard },
): Promise<void> {
  const { indexer, taken, prices, progress, guard } = of;
  const { chainId, blockNumber } = progress.checkpoint;
  const { rollups: rollupRows, users } = indexer.buckets.take();
  const steps: WriteStep[] = [
    ...guard(),
    put(tokens, taken.tokens),
    put(pools, taken.pools),
    put(poolListings, taken.pools.map(toListing)),
    put(poolEvents, taken.events),
    put(poolUsers, users),
    put(rollups, rollupRows),
    put(poolStates, taken.touched.map(toStateRow)),
    put(poolFees, [...progress.fees]),
    ...prices.steps(indexer),
    put(headers, [...progress.headers]),
    ...(progress.headers.length === 0
      ? []
      : [removeWhere(headers, { chainId, number: { lte: blockNumber - KEPT_HEADERS } })]),
    // Again for MongoDB, where the steps before this one took their time.
    ...guard(),
    put(checkpoints, [progress.checkpoint]),
  ];
  await store.write(steps.filter((step) => !isEmpty(step)));
}

function isEmpty(step: WriteStep): boolean {
  return (
    (step.kind === "put" && step.rows.length === 0) || (step.kind === "remove" && step.keys.length === 0)
  );
}

function isSame(a: TokenPriceRow | undefined, b: TokenPriceRow): boolean {
  return (
    a !== undefined &&
    a.usd === b.usd &&
    a.hops === b.hops &&
    a.depthUsd === b.depthUsd &&
    a.viaPool === b.viaPool
  );
}
