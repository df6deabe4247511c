import { MEDIAN_WINDOW_SECONDS } from "../../../shared/pricing/median.ts";
import type { Store } from "../../../shared/storage/port.ts";
import { listEventStates, listStatesOfPools } from "../../store/event-states.ts";
import { readLastLinks, readMarkedPrices } from "../../store/price-links.ts";
import { getPriceStart, lastEventBlock, listFeedAnswers } from "../../store/queries.ts";
import type { Indexer } from "../state/indexer.ts";
import { loadAtRest, loadRecent } from "../state/load-indexer.ts";
import type { PoolEntry } from "../state/pool-book.ts";
import { pointOf, reachesBack } from "../state/pool-prices.ts";
import type { LastBlock } from "../state/resume-prices.ts";
import type { PoolPoint } from "../state/watched-pool.ts";

/**
 * Brings the prices back to the last block that a rollback left: those of the changed pools, and of all that had an
 * event within the five minutes before it, which time alone may have changed since. All others are as they were. Of
 * the points of these minutes only those are read that were dropped since.
 * @param entries of the changed pools, loaded again
 * @param relinked tokens whose links were undone
 */
export async function rollbackPrices(
  store: Store,
  {
    indexer,
    anchors,
    entries,
    gone,
    relinked,
  }: {
    indexer: Indexer;
    anchors: readonly string[];
    entries: readonly PoolEntry[];
    gone: readonly string[];
    relinked: readonly string[];
  },
): Promise<void> {
  const { chainId, prices } = indexer;
  const read = await getPriceStart(store, chainId);
  const last = (await lastEventBlock(store, { chainId })) ?? (read?.isComplete ? read : undefined);
  const links = prices.graph.links();
  for (const token of relinked) links.delete(token);
  for (const [token, link] of await readLastLinks(store, { chainId, tokens: relinked }))
    links.set(token, link);
  prices.graph.forget();
  prices.feeds.clear();
  prices.feeds.add(await listFeedAnswers(store, { chainId, anchors, block: last?.blockNumber ?? -1 }));
  for (const pool of gone) prices.unload(pool);
  if (last === undefined) {
    for (const entry of entries) prices.unload(entry.row.poolAddress);
    prices.resume(new Map(), 0, { now: 0, usd: new Map() });
    return;
  }
  const from = last.time - MEDIAN_WINDOW_SECONDS;
  const active: PoolEntry[] = [];
  for (const entry of entries) {
    if (entry.lastBlock >= 0 && entry.lastTime > from) active.push(entry);
    // One without an event has a price only where it was read before the index (anchored).
    else if (pointOf(entry, 0) === undefined) prices.unload(entry.row.poolAddress);
    else loadAtRest(prices, entry, last.time);
  }
  const rewound = prices.rewind(last.time, new Set(entries.map((entry) => entry.row.poolAddress)));
  if (rewound === undefined) {
    const events = await listEventStates(store, { chainId, after: from, block: last.blockNumber });
    await loadRecent(store, { indexer, recent: [...events.keys()], last, events });
  } else await complete(store, { indexer, last, active, ...rewound });
  prices.setAnchors(last);
  prices.feeds.takeNotices();
  const { blockNumber: block, time } = last;
  const marked = prices.graph.isMarkedFor(time)
    ? undefined
    : await readMarkedPrices(store, { chainId, block, time, priced: links.keys() });
  prices.resume(links, time, marked);
}

/** Loads the changed pools that had an event in the last five minutes, and the others whose points are not all here. */
async function complete(
  store: Store,
  {
    indexer,
    last,
    active,
    incomplete,
    wholeAfter,
  }: {
    indexer: Indexer;
    last: LastBlock;
    active: readonly PoolEntry[];
    incomplete: readonly string[];
    wholeAfter: number;
  },
): Promise<void> {
  const { prices } = indexer;
  const from = last.time - MEDIAN_WINDOW_SECONDS;
  const later = new Map<string, PoolPoint[]>();
  const unknown: string[] = [];
  for (const pool of incomplete)
    later.set(
      pool,
      prices.pointsOf(pool).filter(({ time }) => time > wholeAfter),
    );
  for (const entry of active) {
    const { poolAddress } = entry.row;
    const points = prices.pointsOf(poolAddress).filter(({ time }) => time <= last.time);
    if (!endsWith(points, entry)) unknown.push(poolAddress);
    else if (reachesBack(points, from)) prices.loadPool(entry, points, last.time);
    else
      later.set(
        poolAddress,
        points.filter(({ time }) => time > wholeAfter),
      );
  }
  const { chainId } = indexer;
  const load = async (recent: readonly string[], upTo: number) => {
    const events = await listStatesOfPools(store, { chainId, pools: recent, after: from, upTo });
    await loadRecent(store, { indexer, recent, last, events, later });
  };
  if (later.size > 0) await load([...later.keys()], Math.min(wholeAfter, last.time));
  if (unknown.length > 0) await load(unknown, last.time);
}

/** Whether the last point is that of the pool's present state: another event of its second may have been undone. */
function endsWith(points: readonly PoolPoint[], entry: PoolEntry): boolean {
  const [known, now] = [points.at(-1), pointOf(entry, entry.lastTime)];
  if (known === undefined || now === undefined || known.time !== now.time) return false;
  return known.price === now.price && known.depth0 === now.depth0 && known.depth1 === now.depth1;
}
