import type { Store } from "../../../shared/storage/port.ts";
import { DAY, HOUR, startOf } from "../../metrics/bucket.ts";
import { completedDays, hoursUpTo } from "../../metrics/v2-window.ts";
import type { TokenLink } from "../../price/link.ts";
import { holdingsOf, readV2Holdings, type V2Holdings } from "../../protocols/aerodrome-v2/state.ts";
import { aerodromeV2 } from "../../protocols/aerodrome-v2.ts";
import { groupByPool } from "../../store/by-pool.ts";
import {
  type CheckpointRow,
  inactivePools,
  type PoolRow,
  poolEvents,
  poolStates,
  pools,
} from "../../store/collections.ts";
import { findChangedLinks, parentsOf, readLinks } from "../../store/price-links.ts";
import { findV2Numbers, type V2NumbersRow } from "../../store/v2-queries.ts";
import { stateWithoutEvents } from "../../views/v2-facts.ts";
import { readAtHead } from "../head.ts";
import { LayeredMap } from "./layered-map.ts";

/** Days of buckets kept of each pool. */
export const TABLE_DAYS = 7;
/** Pools per read: the process serves other requests in between. */
const POOLS_A_READ = 2_000;
/** Fewer where a head is awaited: SQLite blocks the event loop for as long as it reads. */
const POOLS_AN_UPDATE = 50;
/** Pools without a known state that are looked up at each head. */
const UNKNOWN_A_READ = 1_000;
/** Further behind, reloading costs less than finding the changes. */
const MAX_BLOCKS_BEHIND = 100;

/** A pool and the inputs of its row in the list. */
export interface V2Entry {
  readonly pool: PoolRow;
  /** Undefined where nothing of the pool is known. */
  readonly holdings: V2Holdings | undefined;
  /** The stored state that `holdings` are of; undefined where none is stored. */
  readonly state: string | undefined;
  readonly hours: readonly V2NumbersRow[];
  readonly days: readonly V2NumbersRow[];
}

/**
 * All v2 pools of a chain, in memory: reading a full page from the store would take ten times too long. An update to
 * a head reads again only the pools with events since the table's last event: while that event is stored under the
 * same block hash, nothing before it has changed.
 */
export interface V2PoolTable {
  /** The youngest pool first. */
  readonly list: readonly V2Entry[];
  /** Where each address is in the list; shared by tables of the same pools. */
  readonly places: ReadonlyMap<string, number>;
  /** The price links of their tokens and of reward tokens. */
  readonly links: Links;
  /** One per part that was read at a head of its own. */
  readonly lastEvents: readonly EventRef[];
  /** The head of its last update. */
  readonly block: number;
}

type Links = LayeredMap<string, TokenLink | undefined>;

interface EventRef {
  readonly blockNumber: number;
  readonly logIndex: number;
  readonly blockHash: string;
}

/** Before the first event. */
const NO_EVENT: EventRef = { blockNumber: -1, logIndex: -1, blockHash: "" };

export function entryOf({ list, places }: V2PoolTable, address: string): V2Entry | undefined {
  const place = places.get(address);
  return place === undefined ? undefined : list[place];
}

/** Whether a table can be updated to a checkpoint. */
export async function isCurrent(
  store: Store,
  { table, checkpoint }: { table: V2PoolTable; checkpoint: CheckpointRow },
): Promise<boolean> {
  const { chainId } = checkpoint;
  if (checkpoint.blockNumber - table.block > MAX_BLOCKS_BEHIND) return false;
  for (const { blockNumber, logIndex, blockHash } of table.lastEvents) {
    const row = await store.get(poolEvents, { chainId, blockNumber, logIndex });
    if (row?.blockHash !== blockHash) return false;
  }
  return true;
}

/**
 * Reads the whole table part by part, since an ingest that writes all the time leaves time for small reads only.
 * @param of.tokens whose prices are needed beside those of the pools' tokens
 */
export async function loadTable(
  store: Store,
  options: { checkpoint: CheckpointRow; tokens: readonly string[] },
): Promise<V2PoolTable> {
  const { checkpoint } = options;
  const { chainId } = checkpoint;
  const lastEvents: EventRef[] = [];
  const readPart = async <T>(read: (at: CheckpointRow) => Promise<T>): Promise<T> => {
    const found = await readAtHead(store, {
      chainId,
      signal: undefined,
      read: async (at) => ({ lastEvent: await findLastEvent(store, at), value: await read(at) }),
    });
    if (found === undefined) throw new Error(`Chain ${chainId} is not indexed any more.`);
    lastEvents.push(found.value.lastEvent);
    await new Promise(setImmediate);
    return found.value.value;
  };
  const all = await readPart(() => store.find(pools, { filter: { chainId, protocol: aerodromeV2.kind } }));
  const entries = new Map<string, V2Entry>();
  const links = new Map<string, TokenLink | undefined>();
  const readTokens = async (tokens: readonly string[]) => {
    const wanted = new Set(tokens.filter((token) => !links.has(token)));
    const read = (at: CheckpointRow) =>
      readLinks(store, { chainId, tokens: wanted, block: at.blockNumber, known: links });
    for (const [token, link] of await readPart(read)) links.set(token, link);
  };
  for (let from = 0; from < all.length; from += POOLS_A_READ) {
    const some = all.slice(from, from + POOLS_A_READ);
    for (const entry of await readPart((at) => readEntries(store, { pools: some, checkpoint: at }))) {
      entries.set(entry.pool.poolAddress, entry);
    }
    await readTokens(some.flatMap(tokensOf));
  }
  await readTokens(options.tokens);
  return {
    ...inOrder([...entries.values()]),
    ...{ links: new LayeredMap(links), lastEvents: distinct(lastEvents), block: checkpoint.blockNumber },
  };
}

/**
 * The table at a checkpoint: reads again the pools with events, created pools and changed prices since its last
 * events.
 */
export async function updateTable(
  store: Store,
  at: { table: V2PoolTable; checkpoint: CheckpointRow },
): Promise<V2PoolTable> {
  const { table, checkpoint } = at;
  const { chainId } = checkpoint;
  const since = Math.min(...table.lastEvents.map((lastEvent) => lastEvent.blockNumber));
  // Filters by the block alone, which has an index; adding the protocol would scan.
  const newest = await store.find(pools, { filter: { chainId, createdBlock: { gt: since } } });
  const created = newest.filter((pool) => pool.protocol === aerodromeV2.kind);
  const events = await store.find(poolEvents, {
    filter: { chainId, blockNumber: { gt: since } },
    fields: ["poolAddress"],
  });
  const stale = new Map(created.map((pool) => [pool.poolAddress, pool]));
  const touched = [...events, ...(await findNewlyRead(store, at))];
  for (const { poolAddress } of touched) {
    const known = entryOf(table, poolAddress);
    // Pools of replaced blocks are dropped; those that still exist are among the created ones.
    if (known !== undefined && known.pool.createdBlock <= since) stale.set(poolAddress, known.pool);
  }
  const staleList = [...stale.values()];
  const fresh: V2Entry[] = [];
  await new Promise(setImmediate);
  for (let from = 0; from < staleList.length; from += POOLS_AN_UPDATE) {
    const some = staleList.slice(from, from + POOLS_AN_UPDATE);
    fresh.push(...(await readEntries(store, { pools: some, checkpoint })));
    await new Promise(setImmediate);
  }
  const links = await linksUpTo(store, { links: table.links, since, pools: created, checkpoint });
  await new Promise(setImmediate);
  const lastEvents = [await findLastEvent(store, checkpoint)];
  return { ...withEntries(table, { fresh, since }), links, lastEvents, block: checkpoint.blockNumber };
}

/** The list with some entries read again: as long as no pool comes or goes, only they change. */
function withEntries(
  { list, places }: V2PoolTable,
  { fresh, since }: { fresh: readonly V2Entry[]; since: number },
): Pick<V2PoolTable, "list" | "places"> {
  const isCreated = ({ pool }: V2Entry) => pool.createdBlock > since;
  if (fresh.some(isCreated) || list.some(isCreated))
    return inOrder([
      ...new Map(
        [...list.filter((entry) => !isCreated(entry)), ...fresh].map((entry) => [
          entry.pool.poolAddress,
          entry,
        ]),
      ).values(),
    ]);
  const next = list.slice();
  for (const entry of fresh) next[places.get(entry.pool.poolAddress) as number] = entry;
  return { list: next, places };
}

/**
 * Pools without a known state that the ingest has read since then as inactive: checks some of them at a time, in
 * turn.
 */
function findNewlyRead(
  store: Store,
  { table, checkpoint }: { table: V2PoolTable; checkpoint: CheckpointRow },
): Promise<{ poolAddress: string }[]> {
  const unknown = table.list.filter(({ holdings }) => holdings === undefined);
  const turns = Math.ceil(unknown.length / UNKNOWN_A_READ);
  const from = (checkpoint.blockNumber % turns) * UNKNOWN_A_READ;
  const addresses = unknown.slice(from, from + UNKNOWN_A_READ).map(({ pool }) => pool.poolAddress);
  return addresses.length === 0
    ? Promise.resolve([])
    : store.find(inactivePools, {
        filter: { chainId: checkpoint.chainId, poolAddress: { in: addresses } },
        fields: ["poolAddress"],
      });
}

async function linksUpTo(
  store: Store,
  at: { links: Links; since: number; pools: readonly PoolRow[]; checkpoint: CheckpointRow },
): Promise<Links> {
  const { chainId, blockNumber } = at.checkpoint;
  const changed = await findChangedLinks(store, { chainId, after: at.since, upTo: blockNumber });
  const links = new Map([...changed].filter(([token]) => at.links.has(token)));
  const known = at.links.with(links);
  const wanted = parentsOf(changed.values(), (base) => known.has(base));
  for (const token of at.pools.flatMap(tokensOf)) if (!known.has(token)) wanted.add(token);
  return known.with(await readLinks(store, { chainId, tokens: wanted, block: blockNumber, known }));
}

function tokensOf(pool: PoolRow): string[] {
  return [pool.token0Address, pool.token1Address];
}

function distinct(lastEvents: readonly EventRef[]): EventRef[] {
  return [
    ...new Map(
      lastEvents.map((lastEvent) => [`${lastEvent.blockHash}:${lastEvent.logIndex}`, lastEvent]),
    ).values(),
  ];
}

async function findLastEvent(store: Store, { chainId, blockNumber }: CheckpointRow): Promise<EventRef> {
  const [last] = await store.find(poolEvents, {
    filter: { chainId, blockNumber: { lte: blockNumber } },
    order: [
      { field: "blockNumber", direction: "desc" },
      { field: "logIndex", direction: "desc" },
    ],
    limit: 1,
    fields: ["blockNumber", "logIndex", "blockHash"],
  });
  return last ?? NO_EVENT;
}

async function readEntries(
  store: Store,
  { checkpoint, pools }: { pools: readonly PoolRow[]; checkpoint: CheckpointRow },
): Promise<V2Entry[]> {
  const { chainId, blockTime } = checkpoint;
  const addresses = pools.map((pool) => pool.poolAddress);
  const key = { chainId, pools: addresses };
  const fields = ["poolAddress", "state"] as const;
  const filter = { chainId, poolAddress: { in: addresses } };
  const [states, quiet, hours, days] = await Promise.all([
    store.find(poolStates, { filter, fields }),
    store.find(inactivePools, { filter, fields }),
    findV2Numbers(store, { ...key, span: HOUR, ...hoursUpTo(blockTime, 24) }),
    // Today's too: it will be a completed day without a further event.
    findV2Numbers(store, {
      ...{ ...key, span: DAY },
      ...{ start: completedDays(blockTime, TABLE_DAYS).start, end: startOf(blockTime, DAY) + DAY },
    }),
  ]);
  // States from events take precedence over those of inactive pools.
  const stateOf = new Map([...quiet, ...states].map((row) => [row.poolAddress, row.state]));
  const hoursOf = groupByPool(hours);
  const daysOf = groupByPool(days);
  return pools.map((pool) => ({
    pool,
    state: stateOf.get(pool.poolAddress),
    holdings: readHoldings(stateOf.get(pool.poolAddress), { pool, checkpoint }),
    hours: hoursOf.get(pool.poolAddress) ?? [],
    days: daysOf.get(pool.poolAddress) ?? [],
  }));
}

function readHoldings(
  stored: string | undefined,
  { pool, checkpoint }: { pool: PoolRow; checkpoint: CheckpointRow },
): V2Holdings | undefined {
  if (stored !== undefined) return readV2Holdings(stored);
  const state = stateWithoutEvents(pool, checkpoint);
  return state && holdingsOf(state);
}

function inOrder(entries: V2Entry[]): Pick<V2PoolTable, "list" | "places"> {
  const list = entries.sort(
    ({ pool: a }, { pool: b }) => b.createdAt - a.createdAt || (a.poolAddress < b.poolAddress ? -1 : 1),
  );
  return { list, places: new Map(list.map(({ pool }, place) => [pool.poolAddress, place])) };
}
