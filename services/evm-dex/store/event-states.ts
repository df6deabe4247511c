/** Pools' states after their latest events, for prices. */
import type { Store } from "../../shared/storage/port.ts";
import { groupByPool } from "./by-pool.ts";
import { poolEvents } from "./collections.ts";

export interface EventState {
  readonly time: number;
  readonly state: string;
}

/** Pools in one list of a filter. */
const POOLS_A_PAGE = 500;
/** Rows of a page while a few minutes of events are read. */
const EVENTS_A_PAGE = 2_000;

/**
 * States after the events that lie after a second, up to a block, by pool, oldest first. Reads back from the block: there
 * is no index by time alone.
 */
export async function listEventStates(
  store: Store,
  { chainId, after, block }: { chainId: number; after: number; block: number },
): Promise<Map<string, EventState[]>> {
  const found: { poolAddress: string; time: number; state: string }[] = [];
  for (let [upTo, skip] = [block, 0]; ; ) {
    const page = await store.find(poolEvents, {
      filter: { chainId, blockNumber: { lte: upTo } },
      order: [
        { field: "blockNumber", direction: "desc" },
        { field: "logIndex", direction: "desc" },
      ],
      skip,
      limit: EVENTS_A_PAGE,
      fields: ["blockNumber", "poolAddress", "time", "state"],
    });
    for (const row of page) if (row.time > after) found.push(row);
    const last = page.at(-1);
    if (last === undefined || page.length < EVENTS_A_PAGE || last.time <= after) break;
    const ofLast = page.filter((row) => row.blockNumber === last.blockNumber).length;
    // A block may be longer than a page.
    skip = last.blockNumber === upTo ? skip + page.length : ofLast;
    upTo = last.blockNumber;
  }
  return groupByPool(found.reverse());
}

/** States after the events of some pools that lie after a second, up to another, by pool, oldest first. */
export async function listStatesOfPools(
  store: Store,
  {
    chainId,
    pools: wanted,
    after,
    upTo,
  }: { chainId: number; pools: readonly string[]; after: number; upTo: number },
): Promise<Map<string, EventState[]>> {
  const found: (EventState & { poolAddress: string })[] = [];
  for (let i = 0; i < wanted.length && after < upTo; i += POOLS_A_PAGE) {
    const rows = await store.find(poolEvents, {
      filter: {
        chainId,
        poolAddress: { in: wanted.slice(i, i + POOLS_A_PAGE) },
        time: { gt: after, lte: upTo },
      },
      fields: ["poolAddress", "time", "blockNumber", "logIndex", "state"],
      // SQLite takes a scan of the chain for cheaper than some hundred seeks.
      via: ["chainId", "poolAddress", "time", "blockNumber", "logIndex"],
    });
    rows.sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex);
    for (const row of rows) found.push(row);
  }
  return groupByPool(found);
}
