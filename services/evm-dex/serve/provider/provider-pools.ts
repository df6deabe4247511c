import type { TimeSlices } from "../../../shared/process/time-slices.ts";
import type { Store } from "../../../shared/storage/port.ts";
import { DAY, startOf } from "../../metrics/bucket.ts";
import { type PoolPast, poolPastOf } from "../../metrics/pool-past.ts";
import type { Window } from "../../metrics/window.ts";
import {
  EMPTY_V2_STATE,
  holdingsOf,
  readV2State,
  type V2Holdings,
  type V2State,
} from "../../protocols/aerodrome-v2/state.ts";
import { type CheckpointRow, type PoolRow, poolEvents } from "../../store/collections.ts";
import { getInactivePools, getPoolStates, getPools } from "../../store/queries.ts";
import { findV2Rollups } from "../../store/v2-queries.ts";
import {
  coverageOf,
  type RewardTokens,
  readTokenFacts,
  stateWithoutEvents,
  type TokenFacts,
  toV2Bucket,
} from "../../views/v2-facts.ts";
import type { V2HeadState } from "../pool-list/v2-head-table.ts";
import { entryOf, type V2Entry } from "../pool-list/v2-pool-table.ts";

/** Pools a read: SQLite blocks the event loop for as long as it reads their days. */
const POOLS_A_READ = 10;
/** Events of later blocks that are looked through; with more all is read again. */
const LATER_EVENTS = 1_000;

/** A pool as a provider's positions are valued by. */
export interface ProviderPool {
  readonly pool: PoolRow;
  readonly state: V2State;
  readonly holdings: V2Holdings;
  readonly past: PoolPast;
}

/** Pools and prices at one block. */
export interface ProviderPools {
  readonly tokens: TokenFacts;
  readonly pools: ReadonlyMap<string, ProviderPool>;
}

interface PoolsQuery {
  readonly checkpoint: CheckpointRow;
  readonly addresses: readonly string[];
  /** Ascending by their length; all end at one midnight. */
  readonly windows: readonly Window[];
  readonly slices: TimeSlices;
}

/** Straight from the store: for the few pools of most wallets. */
export async function readProviderPools(
  store: Store,
  query: PoolsQuery & { rewards: RewardTokens },
): Promise<ProviderPools> {
  const { checkpoint, addresses, rewards } = query;
  const { chainId } = checkpoint;
  const [rows, inactive, active] = await Promise.all([
    getPools(store, { chainId, addresses }),
    getInactivePools(store, { chainId, addresses }),
    getPoolStates(store, { chainId, addresses }),
  ]);
  const stored = new Map([...inactive, ...active].map((row) => [row.poolAddress, row.state]));
  const tokens = await readTokenFacts(store, {
    checkpoint,
    addresses: [
      ...new Set(rows.flatMap((pool) => [pool.token0Address, pool.token1Address])),
      ...rewards.all(chainId),
    ],
  });
  const known = rows.map((pool) => ({
    pool,
    state: stateOf(pool, stored.get(pool.poolAddress), checkpoint),
  }));
  return { tokens, pools: await withPast(store, known, query) };
}

/** The parts that cost most to read, kept as long as the table keeps the entry: until the pool's next event. */
const kept = new WeakMap<
  V2Entry,
  { readonly midnight: number; readonly indexedFrom: number; readonly pool: ProviderPool }
>();

interface SelectedPools extends ProviderPools {
  /** Whether parts that were read from the store may be of a later block than the table. */
  readonly mayBeLater: boolean;
  keep(): void;
}

/**
 * From the table of all pools: for wallets with many. `keep` remembers what was read; call it once all of it is known
 * to be of the table's block.
 */
export async function selectProviderPools(
  store: Store,
  { table, tokens }: V2HeadState,
  query: PoolsQuery,
): Promise<SelectedPools> {
  const { checkpoint, addresses, windows, slices } = query;
  const midnight = windows[0]?.end ?? 0;
  const indexedFrom = checkpoint.fromTime;
  const pools = new Map<string, ProviderPool>();
  const unread: { pool: PoolRow; state: V2State }[] = [];
  for (const address of addresses) {
    const entry = entryOf(table, address);
    if (entry === undefined) continue;
    const known = kept.get(entry);
    if (known?.midnight === midnight && known.indexedFrom === indexedFrom) pools.set(address, known.pool);
    else unread.push({ pool: entry.pool, state: stateOf(entry.pool, entry.state, checkpoint) });
    if (slices.due()) await slices.pause();
  }
  const read = await withPast(store, unread, query);
  for (const [address, pool] of read) pools.set(address, pool);
  const keep = () => {
    for (const [address, pool] of read) {
      const entry = entryOf(table, address);
      if (entry !== undefined) kept.set(entry, { midnight, indexedFrom, pool });
    }
  };
  return { tokens, pools, keep, mayBeLater: await mayBeLater(store, { checkpoint, pools: read }) };
}

/** Whether days may hold events of a later block. After reading them: an event is written before its day. */
async function mayBeLater(
  store: Store,
  { checkpoint, pools }: { checkpoint: CheckpointRow; pools: ReadonlyMap<string, ProviderPool> },
): Promise<boolean> {
  if (pools.size === 0) return false;
  const { chainId, blockNumber } = checkpoint;
  const later = await store.find(poolEvents, {
    filter: { chainId, blockNumber: { gt: blockNumber } },
    fields: ["poolAddress"],
    limit: LATER_EVENTS,
  });
  return later.length === LATER_EVENTS || later.some(({ poolAddress }) => pools.has(poolAddress));
}

/** Without LP tokens where nothing is known of an older pool yet. */
function stateOf(pool: PoolRow, stored: string | undefined, checkpoint: CheckpointRow): V2State {
  if (stored !== undefined) return readV2State(stored);
  return stateWithoutEvents(pool, checkpoint) ?? EMPTY_V2_STATE;
}

async function withPast(
  store: Store,
  all: readonly { readonly pool: PoolRow; readonly state: V2State }[],
  { checkpoint, windows, slices }: PoolsQuery,
): Promise<Map<string, ProviderPool>> {
  const { chainId, blockTime } = checkpoint;
  const start = windows.at(-1)?.start ?? 0;
  const pools = new Map<string, ProviderPool>();
  for (let from = 0; from < all.length; from += POOLS_A_READ) {
    const some = all.slice(from, from + POOLS_A_READ);
    const rows = await findV2Rollups(store, {
      ...{ chainId, pools: some.map(({ pool }) => pool.poolAddress), span: DAY },
      ...{ start, end: startOf(blockTime, DAY) + DAY },
    });
    const daysOf = new Map(some.map(({ pool }) => [pool.poolAddress, [] as ReturnType<typeof toV2Bucket>[]]));
    for (const row of rows) daysOf.get(row.poolAddress)?.push(toV2Bucket(row));
    for (const { pool, state } of some) {
      const days = daysOf.get(pool.poolAddress) ?? [];
      const past = poolPastOf({ days, index: state, windows, coverage: coverageOf(pool, checkpoint) });
      pools.set(pool.poolAddress, { pool, state, holdings: holdingsOf(state), past });
    }
    if (slices.due()) await slices.pause();
  }
  return pools;
}
