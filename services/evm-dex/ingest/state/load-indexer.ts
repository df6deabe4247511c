import { MEDIAN_WINDOW_SECONDS, type PricePoint, trimPoints } from "../../../shared/pricing/median.ts";
import type { Store } from "../../../shared/storage/port.ts";
import { eventsSince, lastEventTime, lastEventUpTo } from "../../store/queries.ts";
import { Indexer } from "./indexer.ts";
import type { PoolEntry } from "./pool-book.ts";
import { addPoint, priceOf } from "./pool-prices.ts";

/** An indexer that continues at the checkpoint: the store must hold nothing beyond it (rollback.ts). */
export async function loadIndexer(
  store: Store,
  chain: { chainId: number; anchors: readonly string[] },
): Promise<Indexer> {
  const indexer = new Indexer(store, chain);
  await indexer.pools.load();
  const now = await lastEventTime(store, { chainId: chain.chainId });
  await indexer.gauges.load(store, chain.chainId);
  if (now === undefined) return indexer;
  for (const entry of indexer.pools.entries()) {
    const price = priceOf(entry);
    if (entry.anchor === undefined || price === undefined) continue;
    indexer.prices.loadPool(entry, await pointsOf(store, { entry, price, now }), now);
  }
  indexer.prices.resume();
  return indexer;
}

/** The prices of a pool in the five minutes up to `now`, and the one before them. */
async function pointsOf(
  store: Store,
  at: { entry: PoolEntry; price: number; now: number },
): Promise<PricePoint[]> {
  const { row, protocol, anchor, lastTime } = at.entry;
  const from = at.now - MEDIAN_WINDOW_SECONDS;
  if (lastTime <= from) return [{ time: lastTime, price: at.price }];
  const key = { chainId: row.chainId, poolAddress: row.poolAddress };
  const points: PricePoint[] = [];
  const before = await lastEventUpTo(store, { ...key, time: from, block: Number.MAX_SAFE_INTEGER });
  const entered = protocol.price(before === undefined ? anchor : protocol.read(before.state), row);
  if (entered !== undefined) points.push({ time: before?.time ?? 0, price: entered });
  for (const event of await eventsSince(store, { ...key, time: from + 1 })) {
    const price = protocol.price(protocol.read(event.state), row);
    if (price !== undefined) addPoint(points, { time: event.time, price });
  }
  trimPoints(points, at.now);
  return points;
}
