import { put, remove, type Store, type WriteStep } from "../../../shared/storage/port.ts";
import { SPANS, startOf } from "../../metrics/bucket.ts";
import { protocolOf } from "../../protocols/index.ts";
import { type PoolRow, type PoolStateRow, poolStates, rollups } from "../../store/collections.ts";
import { eventsSince, getPoolStates, getPools, lastEventUpTo } from "../../store/queries.ts";
import { rebuildOpenBuckets } from "../../views/open-buckets.ts";
import { type RemovedEvent, type RollbackTarget, removeRollupsFrom } from "./removed.ts";
import { repairUsers, returnedBuckets, withUsers } from "./repair-users.ts";
import { repairV2Buckets } from "./repair-v2.ts";

interface PoolRepair {
  readonly pool: PoolRow;
  readonly removed: readonly RemovedEvent[];
  readonly target: RollbackTarget;
  /** As it is stored. */
  readonly state: PoolStateRow | undefined;
}

/**
 * The steps that roll pools back to the target: the state from the last row up to it, users from the `previousMinute`
 * of the removed rows, closed buckets that users return to from their `previousUsers`, the open minute, hour and day from
 * the rows left in them. What has a key is read of all at once.
 */
export async function repairPools(
  store: Store,
  {
    chainId,
    removedOf,
    target,
  }: {
    chainId: number;
    removedOf: ReadonlyMap<string, readonly RemovedEvent[]>;
    target: RollbackTarget;
  },
): Promise<WriteStep[]> {
  const wanted = { chainId, addresses: [...removedOf.keys()] };
  const pools = new Map((await getPools(store, wanted)).map((row) => [row.poolAddress, row]));
  const states = new Map((await getPoolStates(store, wanted)).map((row) => [row.poolAddress, row]));
  const steps: WriteStep[] = [];
  for (const [poolAddress, removed] of removedOf) {
    const pool = pools.get(poolAddress);
    if (pool === undefined) throw new Error(`Events of pool ${poolAddress} are stored, but the pool is not.`);
    const state = states.get(poolAddress);
    steps.push(...(await repairPool(store, { pool, removed, target, state })));
  }
  return steps;
}

async function repairPool(store: Store, repair: PoolRepair): Promise<WriteStep[]> {
  const { pool, removed, target } = repair;
  const steps = [await repairState(store, repair)];
  if (!removed.some((event) => event.kind === "swap")) return steps;
  const isV2 = protocolOf(pool.protocol).swapFees !== undefined;
  const buckets = isV2 ? repairV2Buckets(store, { pool, target }) : repairBuckets(store, repair);
  return [...steps, ...(await buckets)];
}

async function repairBuckets(store: Store, { pool, removed, target }: PoolRepair): Promise<WriteStep[]> {
  const { chainId, poolAddress } = pool;
  const key = { chainId, poolAddress };
  const openStarts = SPANS.map((span) => startOf(target.time, span));
  const [openMinute = 0] = openStarts;
  const since = await eventsSince(store, { ...key, time: openMinute });
  const swaps = since.filter((event) => event.kind === "swap" && event.blockNumber <= target.number);
  const inOpenMinute = new Set(swaps.map((event) => event.sender));
  const users = repairUsers(key, { removed, openMinute, inOpenMinute });
  const returned = await returnedBuckets(store, key, { removed, openStarts, users });
  const open = await rebuildOpenBuckets(store, { pool, target, swaps });
  return [
    ...users.steps,
    ...removeRollupsFrom({ ...key, starts: openStarts }),
    put(rollups, [
      ...withUsers(open, { inOpenMinute, openStarts, returned }),
      ...returned.map(({ stored, lastSeenUsers }) => ({ ...stored, lastSeenUsers })),
    ]),
  ];
}

async function repairState(
  store: Store,
  { pool: { chainId, poolAddress }, target, state: stored }: PoolRepair,
): Promise<WriteStep> {
  const last = await lastEventUpTo(store, { chainId, poolAddress, block: target.number, time: target.time });
  if (last === undefined || stored === undefined) return remove(poolStates, [{ chainId, poolAddress }]);
  const isOfTarget = last.blockNumber === stored.lastBlock && stored.balanceBlock <= target.number;
  const unread = isOfTarget ? {} : { balanceBlock: -1 };
  return put(poolStates, [
    {
      ...stored,
      state: last.state,
      lastBlock: last.blockNumber,
      lastTime: last.time,
      ...unread,
    },
  ]);
}
