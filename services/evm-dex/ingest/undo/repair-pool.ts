import { put, remove, type Store, type WriteStep } from "../../../shared/storage/port.ts";
import { MINUTE, SPANS, startOf } from "../../metrics/bucket.ts";
import { protocolOf } from "../../protocols/index.ts";
import { groupByPool } from "../../store/by-pool.ts";
import {
  type PoolRow,
  type PoolStateRow,
  type PoolUserRow,
  poolStates,
  poolUsers,
  type RollupRow,
  rollups,
} from "../../store/collections.ts";
import {
  eventsSince,
  getPoolStates,
  getPools,
  getPoolUsers,
  getRollups,
  lastEventUpTo,
} from "../../store/queries.ts";
import { rebuildOpenBuckets } from "../../views/open-buckets.ts";
import { type RemovedEvent, type RollbackTarget, removeRollupsFrom } from "./removed.ts";
import { repairV2Buckets } from "./repair-v2.ts";

interface PoolRepair {
  readonly pool: PoolRow;
  readonly removed: readonly RemovedEvent[];
  readonly target: RollbackTarget;
  /** As they are stored. */
  readonly state: PoolStateRow | undefined;
  /** Those of the removed swaps, as they are stored. */
  readonly users: readonly PoolUserRow[];
}

/**
 * The steps that roll pools back to the target: the state from the last row up to it, users from the `previousMinute`
 * of the removed rows, the open minute, hour and day from the rows left in them. What has a key is read of all at once.
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
  const users = await readUsers(store, { chainId, removedOf });
  const steps: WriteStep[] = [];
  for (const [poolAddress, removed] of removedOf) {
    const pool = pools.get(poolAddress);
    if (pool === undefined) throw new Error(`Events of pool ${poolAddress} are stored, but the pool is not.`);
    const stored = { state: states.get(poolAddress), users: users.get(poolAddress) ?? [] };
    steps.push(...(await repairPool(store, { pool, removed, target, ...stored })));
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

/** Users of the removed swaps, by pool. */
async function readUsers(
  store: Store,
  { chainId, removedOf }: { chainId: number; removedOf: ReadonlyMap<string, readonly RemovedEvent[]> },
): Promise<Map<string, PoolUserRow[]>> {
  const swaps = [...removedOf.values()].flat().filter((event) => event.kind === "swap");
  const keys = swaps.map(({ poolAddress, sender }) => ({ poolAddress, user: sender }));
  return groupByPool(await getPoolUsers(store, { chainId, users: keys }));
}

async function repairBuckets(store: Store, repair: PoolRepair): Promise<WriteStep[]> {
  const { pool, target } = repair;
  const { chainId, poolAddress } = pool;
  const openStarts = SPANS.map((span) => startOf(target.time, span));
  const openMinute = startOf(target.time, MINUTE);
  const since = await eventsSince(store, { chainId, poolAddress, time: openMinute });
  const swaps = since.filter((event) => event.kind === "swap" && event.blockNumber <= target.number);
  const users = repairUsers(repair, new Set(swaps.map((event) => event.sender)));
  const open = await rebuildOpenBuckets(store, { pool, target, swaps });
  const older = await bucketsOf(store, { chainId, poolAddress, users, before: openStarts });
  const recounted: RollupRow[] = [];
  for (const row of [...open, ...older]) {
    recounted.push({ ...row, lastSeenUsers: await countLastSeen(store, { row, users }) });
  }
  return [
    ...users.steps,
    ...removeRollupsFrom({ chainId, poolAddress, starts: openStarts }),
    put(rollups, recounted),
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

interface RepairedUsers {
  readonly steps: WriteStep[];
  /** Last minute of each affected user after the repair; null: none. */
  readonly after: ReadonlyMap<string, number | null>;
  /** As stored now: possibly repaired already by a killed rollback. */
  readonly stored: ReadonlyMap<string, number>;
}

/**
 * The first removed swap of a user has the minute of the swap before. If that lies beyond the target, the rows before
 * it are missing: a write was killed before it wrote any user, or a rollback after it had repaired every user. Either
 * way the stored minute is right.
 * @param inOpenMinute users with a swap in the minute of the target, up to it
 */
function repairUsers(
  { pool: { chainId, poolAddress }, removed, target, users }: PoolRepair,
  inOpenMinute: ReadonlySet<string>,
): RepairedUsers {
  const previous = new Map<string, number | null>();
  for (const event of [...removed].sort(byPlace)) {
    if (event.kind === "swap" && !previous.has(event.sender))
      previous.set(event.sender, event.previousMinute);
  }
  const stored = new Map(users.map((row) => [row.user, row.lastMinute]));
  const openMinute = startOf(target.time, MINUTE);
  const after = new Map<string, number | null>();
  const kept: PoolUserRow[] = [];
  const gone: { chainId: number; poolAddress: string; user: string }[] = [];
  for (const [user, lastMinute] of previous) {
    const isKnown =
      lastMinute === null || lastMinute < openMinute || (lastMinute === openMinute && inOpenMinute.has(user));
    after.set(user, isKnown ? lastMinute : (stored.get(user) ?? null));
    if (!isKnown) continue;
    if (lastMinute === null) gone.push({ chainId, poolAddress, user });
    else kept.push({ chainId, poolAddress, user, lastMinute });
  }
  return { steps: [put(poolUsers, kept), remove(poolUsers, gone)], after, stored };
}

/** Closed buckets that affected users return to. */
async function bucketsOf(
  store: Store,
  {
    chainId,
    poolAddress,
    users,
    before,
  }: { chainId: number; poolAddress: string; users: RepairedUsers; before: readonly number[] },
): Promise<RollupRow[]> {
  const keys = new Map<string, { poolAddress: string; span: number; start: number }>();
  for (const minute of users.after.values()) {
    if (minute === null) continue;
    SPANS.forEach((span, i) => {
      const start = startOf(minute, span);
      if (start < (before[i] as number)) keys.set(`${span}:${start}`, { poolAddress, span, start });
    });
  }
  return getRollups(store, { chainId, buckets: [...keys.values()] });
}

/**
 * Users whose last swap lies in a bucket: the stored ones, corrected by the affected users' stored and repaired
 * minutes.
 */
async function countLastSeen(
  store: Store,
  { row, users }: { row: RollupRow; users: RepairedUsers },
): Promise<number> {
  const { chainId, poolAddress, span, start } = row;
  const isIn = (minute: number | null | undefined) =>
    minute !== null && minute !== undefined && minute >= start && minute < start + span;
  let count = await store.count(poolUsers, {
    chainId,
    poolAddress,
    lastMinute: { gte: start, lt: start + span },
  });
  for (const [user, minute] of users.after) {
    if (isIn(users.stored.get(user))) count -= 1;
    if (isIn(minute)) count += 1;
  }
  return count;
}

function byPlace(a: RemovedEvent, b: RemovedEvent): number {
  return a.blockNumber - b.blockNumber || a.logIndex - b.logIndex;
}
