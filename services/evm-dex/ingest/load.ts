import type { Store } from "../../shared/storage/port.ts";
import { poolPrice } from "../metrics/pool-price.ts";
import { MEDIAN_WINDOW_SECONDS, type PricePoint, trimPoints } from "../price/median.ts";
import { poolEvents } from "../store/collections.ts";
import { eventsSince, lastEventUpTo } from "../store/queries.ts";
import { Indexer } from "./indexer.ts";
import type { PoolEntry } from "./state/pool-book.ts";
import { addPoint } from "./state/price-book.ts";

/** An indexer that goes on where the store stands: the store must hold nothing beyond its checkpoint (rollback.ts). */
export async function loadIndexer(
  store: Store,
  chain: { chainId: number; anchors: readonly string[] },
): Promise<Indexer> {
  const indexer = new Indexer(store, chain);
  await indexer.pools.load();
  const now = await lastEventTime(store, chain.chainId);
  if (now === undefined) return indexer;
  for (const entry of indexer.pools.entries()) {
    if (entry.anchor === undefined || entry.state.sqrtPriceX96 === 0n) continue;
    indexer.prices.place(entry, await pointsOf(store, { entry, now }), now);
  }
  indexer.prices.walk();
  return indexer;
}

async function lastEventTime(store: Store, chainId: number): Promise<number | undefined> {
  const [row] = await store.find(poolEvents, {
    filter: { chainId },
    order: [{ field: "blockNumber", direction: "desc" }],
    limit: 1,
    fields: ["time"],
  });
  return row?.time;
}

/** The prices a pool had in the five minutes up to `now`, and the one it entered them with. */
async function pointsOf(store: Store, at: { entry: PoolEntry; now: number }): Promise<PricePoint[]> {
  const { entry, now } = at;
  const { row, state, anchor } = entry;
  const decimals = { decimals0: row.token0Decimals, decimals1: row.token1Decimals };
  const from = now - MEDIAN_WINDOW_SECONDS;
  if (entry.lastTime <= from)
    return [{ time: entry.lastTime, price: poolPrice(state.sqrtPriceX96, decimals) }];
  const key = { chainId: row.chainId, poolAddress: row.poolAddress };
  const points: PricePoint[] = [];
  const before = await lastEventUpTo(store, { ...key, time: from, block: Number.MAX_SAFE_INTEGER });
  if (before !== undefined && before.sqrtPriceX96 !== 0n) {
    points.push({ time: before.time, price: poolPrice(before.sqrtPriceX96, decimals) });
  } else if (before === undefined && anchor !== undefined && anchor.sqrtPriceX96 !== 0n) {
    points.push({ time: 0, price: poolPrice(anchor.sqrtPriceX96, decimals) });
  }
  for (const event of await eventsSince(store, { ...key, time: from + 1 })) {
    if (event.sqrtPriceX96 === 0n) continue;
    addPoint(points, { time: event.time, price: poolPrice(event.sqrtPriceX96, decimals) });
  }
  trimPoints(points, now);
  return points;
}
