import { MEDIAN_WINDOW_SECONDS, trimPoints } from "../../../shared/pricing/median.ts";
import type { Store } from "../../../shared/storage/port.ts";
import { readLastLinks } from "../../store/price-links.ts";
import {
  eventsSince,
  getPriceStart,
  lastEventBlock,
  lastEventUpTo,
  listFeedAnswers,
  listPricedInactivePools,
} from "../../store/queries.ts";
import { Indexer } from "./indexer.ts";
import type { PoolEntry } from "./pool-book.ts";
import { addPoint, type PoolPoint, pointOf } from "./pool-prices.ts";

/** An indexer that continues at the checkpoint: the store must hold nothing beyond it (rollback.ts). */
export async function loadIndexer(
  store: Store,
  chain: { chainId: number; anchors: readonly string[] },
): Promise<Indexer> {
  const indexer = new Indexer(store, chain);
  await indexer.pools.load();
  await indexer.gauges.load(store, chain.chainId);
  await loadPrices(store, { indexer, anchors: chain.anchors });
  return indexer;
}

/** Computes the prices of an indexer that has none yet, from its pools and those read before the first block. */
export async function loadPrices(
  store: Store,
  { indexer, anchors }: { indexer: Indexer; anchors: readonly string[] },
): Promise<void> {
  const { chainId, pools, prices } = indexer;
  const read = await getPriceStart(store, chainId);
  const start = read?.isComplete ? read : undefined;
  if (start !== undefined) await pools.addInactive(await listPricedInactivePools(store, chainId), start);
  const last = (await lastEventBlock(store, { chainId })) ?? start;
  prices.feeds.add(await listFeedAnswers(store, { chainId, anchors, block: last?.blockNumber ?? -1 }));
  if (last === undefined) return;
  for (const entry of pools.entries()) {
    const points = await pointsOf(store, { entry, now: last.time });
    if (points.length > 0) prices.loadPool(entry, points, last.time);
  }
  prices.setAnchors(last);
  prices.feeds.takeNotices();
  const tokens = prices.graph.known;
  prices.resume(await readLastLinks(store, { chainId, tokens }), last.time);
}

/** The prices and depths of a pool in the five minutes up to `now`, and those before them; none without a price. */
async function pointsOf(store: Store, at: { entry: PoolEntry; now: number }): Promise<PoolPoint[]> {
  const { row, protocol, anchor, lastBlock, lastTime } = at.entry;
  // What it was before the index, it has always been.
  const point = pointOf(at.entry, lastBlock < 0 ? 0 : lastTime);
  if (point === undefined) return [];
  const from = at.now - MEDIAN_WINDOW_SECONDS;
  if (point.time <= from) return [point];
  const key = { chainId: row.chainId, poolAddress: row.poolAddress };
  const points: PoolPoint[] = [];
  const before = await lastEventUpTo(store, { ...key, time: from, block: Number.MAX_SAFE_INTEGER });
  const state = before === undefined ? anchor : protocol.read(before.state);
  const entered = pointOf({ row, protocol, state }, before?.time ?? 0);
  if (entered !== undefined) points.push(entered);
  for (const event of await eventsSince(store, { ...key, time: from + 1 })) {
    const point = pointOf({ row, protocol, state: protocol.read(event.state) }, event.time);
    if (point !== undefined) addPoint(points, point);
  }
  trimPoints(points, at.now);
  return points;
}
