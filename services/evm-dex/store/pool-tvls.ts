import { collection, type RowOf } from "../../shared/storage/collection.ts";
import type { Store } from "../../shared/storage/port.ts";

/**
 * TVL of a pool after its last event in an hour or day, of days whose raw rows retention removes: written before these go
 * (ingest/retention/keep-tvls.ts). What raw rows still tell is not in here. A day has a row where the pool had an event in
 * it; its hours have theirs unless TVL is unknown in all of them.
 */
export const poolTvls = collection({
  name: "pool_tvls",
  fields: {
    chainId: "int",
    poolAddress: "hex",
    /** Seconds: 3600 or 86400. */
    span: "int",
    /** Unix seconds, a multiple of span. */
    start: "int",
    /** Null: a token had no price. */
    tvlUsd: "float?",
  },
  key: ["chainId", "poolAddress", "span", "start"],
  indexes: [],
  shardKey: ["chainId", "poolAddress", "span", "start"],
});

export type PoolTvlRow = RowOf<typeof poolTvls>;

/** Those of one span that start in [start, end), oldest first. */
export function findPoolTvls(
  store: Store,
  query: { chainId: number; poolAddress: string; span: number; start: number; end: number },
): Promise<Pick<PoolTvlRow, "start" | "tvlUsd">[]> {
  const { start, end, ...key } = query;
  return store.find(poolTvls, {
    filter: { ...key, start: { gte: start, lt: end } },
    order: [{ field: "start", direction: "asc" }],
    fields: ["start", "tvlUsd"],
  });
}
