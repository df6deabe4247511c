import { put, remove, type Store, type WriteStep } from "../../../shared/storage/port.ts";
import { MINUTE, SPANS, startOf } from "../../metrics/bucket.ts";
import { protocolOf } from "../../protocols/index.ts";
import {
  type PoolRow,
  type PoolUserRow,
  poolStates,
  poolUsers,
  type RollupRow,
  rollups,
} from "../../store/collections.ts";
import {
  eventsSince,
  getPool,
  getPoolStates,
  getPoolUsers,
  getRollups,
  lastEventUpTo,
} from "../../store/queries.ts";
import { rebuildOpenBuckets } from "./rebuild-buckets.ts";
import { type RemovedEvent, type RollbackTarget, removeRollupsFrom } from "./removed.ts";
import { repairV2Buckets } from "./repair-v2.ts";

/**
 * The steps that roll one pool back to the target: its state from the last row up to it, its users from the
 * `previousMinute` of the removed rows, its open minute, hour and day from the rows left in them.
 */
export async function repairPool(
  store: Store,
  options: { chainId: number; poolAddress: string; removed: readonly RemovedEvent[]; target: RollbackTarget },
): Promise<WriteStep[]> {
  const { chainId, poolAddress, removed, target } = options;
  const pool = await getPool(store, { chainId, poolAddress });
  if (pool === undefined) throw new Error(`Events of pool ${poolAddress} are stored, but the pool is not.`);
  const steps = [await repairState(store, options)];
  if (removed.some((event) => event.kind === "swap")) {
    const isV2 = protocolOf(pool.protocol).swapFees !== undefined;
    steps.push(
      ...(await (isV2
        ? repairV2Buckets(store, { pool, target })
        : repairBuckets(store, { ...options, pool }))),
    );
  }
  return steps;
}

async function repairBuckets(
  store: Store,
  options: {
    chainId: number;
    poolAddress: string;
    pool: PoolRow;
    removed: readonly RemovedEvent[];
    target: RollbackTarget;
  },
): Promise<WriteStep[]> {
  const { chainId, poolAddress, pool, target } = options;
  const users = await repairUsers(store, options);
  const openStarts = SPANS.map((span) => startOf(target.time, span));
  const open = await rebuildOpenBuckets(store, { pool, target });
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
  { chainId, poolAddress, target }: { chainId: number; poolAddress: string; target: RollbackTarget },
): Promise<WriteStep> {
  const last = await lastEventUpTo(store, { chainId, poolAddress, block: target.number, time: target.time });
  const [stored] = await getPoolStates(store, { chainId, addresses: [poolAddress] });
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
 */
async function repairUsers(
  store: Store,
  {
    chainId,
    poolAddress,
    removed,
    target,
  }: { chainId: number; poolAddress: string; removed: readonly RemovedEvent[]; target: RollbackTarget },
): Promise<RepairedUsers> {
  const previous = new Map<string, number | null>();
  for (const event of [...removed].sort(byPlace)) {
    if (event.kind === "swap" && !previous.has(event.sender))
      previous.set(event.sender, event.previousMinute);
  }
  const rows = await getPoolUsers(store, {
    chainId,
    users: [...previous.keys()].map((user) => ({ poolAddress, user })),
  });
  const stored = new Map(rows.map((row) => [row.user, row.lastMinute]));
  const openMinute = startOf(target.time, MINUTE);
  const inOpenMinute = await usersSince(store, {
    chainId,
    poolAddress,
    time: openMinute,
    upTo: target.number,
  });
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

async function usersSince(
  store: Store,
  at: { chainId: number; poolAddress: string; time: number; upTo: number },
): Promise<Set<string>> {
  const events = await eventsSince(store, at);
  return new Set(
    events
      .filter((event) => event.kind === "swap" && event.blockNumber <= at.upTo)
      .map((event) => event.sender),
  );
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
