import { MEDIAN_WINDOW_SECONDS, trimPoints } from "../../../shared/pricing/median.ts";
import type { Store } from "../../../shared/storage/port.ts";
import { listEventStates } from "../../store/event-states.ts";
import { readLastLinks, readMarkedPrices } from "../../store/price-links.ts";
import { getPriceStart, lastEventBlock, lastEventsUpTo, listFeedAnswers } from "../../store/queries.ts";
import type { Detail } from "./detail.ts";
import { Indexer } from "./indexer.ts";
import type { PoolEntry } from "./pool-book.ts";
import { type PoolPrices, pointOf, storedPointOf } from "./pool-prices.ts";
import { type LastBlock, resumePrices } from "./resume-prices.ts";
import { addPoint, type PoolPoint } from "./watched-pool.ts";

/** An indexer that continues at the checkpoint: the store must hold nothing beyond it (rollback.ts). */
export async function loadIndexer(
  store: Store,
  chain: { chainId: number; anchors: readonly string[] },
  detail: Detail = "events",
): Promise<Indexer> {
  const indexer = new Indexer(store, chain, detail);
  await indexer.gauges.load(store, chain.chainId);
  await loadPrices(store, { indexer, anchors: chain.anchors });
  return indexer;
}

/**
 * Loads the pools of an indexer, and computes its prices, of which it has none yet: from these pools and from those read
 * before the first block.
 */
export async function loadPrices(
  store: Store,
  { indexer, anchors }: { indexer: Indexer; anchors: readonly string[] },
): Promise<void> {
  const { chainId, pools, prices } = indexer;
  const read = await getPriceStart(store, chainId);
  const start = read?.isComplete ? read : undefined;
  const last = (await lastEventBlock(store, { chainId })) ?? start;
  prices.feeds.add(await listFeedAnswers(store, { chainId, anchors, block: last?.blockNumber ?? -1 }));
  const recent: string[] = [];
  for await (const { active, expected } of pools.load()) {
    if (last === undefined) continue;
    for (const pool of active) {
      if (pool.lastTime > last.time - MEDIAN_WINDOW_SECONDS) recent.push(pools.addresses.nameOf(pool.number));
      else prices.loadResting(pool, last.time);
    }
    prices.graph.reserve(expected);
  }
  if (last === undefined) return;
  if (start !== undefined) {
    for await (const page of pools.listInactive(start))
      for (const entry of page) loadAtRest(prices, entry, last.time);
  }
  const events = await listEventStates(store, {
    chainId,
    after: last.time - MEDIAN_WINDOW_SECONDS,
    block: last.blockNumber,
  });
  await loadRecent(store, { indexer, recent, last, events });
  await resumePrices(prices, last, {
    links: (tokens) => readLastLinks(store, { chainId, tokens }),
    marked: (priced) =>
      readMarkedPrices(store, { chainId, block: last.blockNumber, time: last.time, priced }),
  });
  prices.feeds.takeNotices();
}

type EventStates = Awaited<ReturnType<typeof listEventStates>>;

/** A pool without an event in the last five minutes, as it has been since its last one. */
export function loadAtRest(prices: PoolPrices, pool: PoolEntry, now: number): void {
  // What it was before the index, it has always been.
  const point = pointOf(pool, pool.lastBlock < 0 ? 0 : pool.lastTime);
  if (point !== undefined) prices.loadPool(pool, [point], now);
}

/**
 * Loads pools with their prices and depths of the five minutes up to a block, and those before them.
 * @param events of these minutes
 * @param later points after those events that are known already
 */
export async function loadRecent(
  store: Store,
  {
    indexer: { chainId, pools, prices },
    recent,
    last,
    events,
    later = new Map(),
  }: {
    indexer: Indexer;
    recent: readonly string[];
    last: LastBlock;
    events: EventStates;
    later?: ReadonlyMap<string, readonly PoolPoint[]>;
  },
): Promise<void> {
  const from = last.time - MEDIAN_WINDOW_SECONDS;
  const entries = await pools.read(recent);
  const before = await lastEventsUpTo(store, { chainId, pools: recent, time: from });
  for (const entry of entries) {
    const { poolAddress } = entry.row;
    const own = events.get(poolAddress) ?? [];
    const entered = before.get(poolAddress);
    const points: PoolPoint[] = [];
    const state = entered?.state ?? entry.anchor;
    const first = state === undefined ? undefined : storedPointOf(entry, state, entered?.time ?? 0);
    if (first !== undefined) points.push(first);
    for (const event of own) {
      const point = storedPointOf(entry, event.state, event.time);
      if (point !== undefined) addPoint(points, point);
    }
    points.push(...(later.get(poolAddress) ?? []));
    if (points.length === 0 || pointOf(entry, entry.lastTime) === undefined) {
      prices.unload(poolAddress);
      continue;
    }
    trimPoints(points, last.time);
    prices.loadPool(entry, points, last.time);
  }
}
