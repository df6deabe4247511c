import { rewindScans } from "../../../shared/index/evm/discovery.ts";
import { headers } from "../../../shared/index/evm/headers.ts";
import { type Guard, guardedPut } from "../../../shared/storage/lease.ts";
import { put, remove, removeWhere, type Store, type WriteStep } from "../../../shared/storage/port.ts";
import { groupByPool } from "../../store/by-pool.ts";
import {
  type CheckpointRow,
  checkpoints,
  discoveries,
  feedAnswers,
  inactivePools,
  type PoolRow,
  type PoolStateRow,
  poolEvents,
  poolFees,
  poolListings,
  poolStates,
  pools,
  poolUsers,
  priceLinks,
  priceStarts,
  tokens,
} from "../../store/collections.ts";
import { observations } from "../../store/observations.ts";
import { getPoolStates, getPriceStart } from "../../store/queries.ts";
import { factoryFees, gauges, knownWallets, lpAnchors, lpEvents } from "../../store/v2-collections.ts";
import { REMOVED_FIELDS, type RemovedEvent, type RollbackTarget, removeRollupsFrom } from "./removed.ts";
import { repairPools } from "./repair-pool.ts";
import { repairPositions } from "./repair-positions.ts";
import { removeV2From } from "./repair-v2.ts";

/**
 * Rolls a chain's store back to a block: after a reorg, or at start, where an interrupted write may have left rows
 * beyond the checkpoint. Everything is derived again from rows up to the block. Idempotent, also after a kill in the
 * middle: the rows beyond the block, which list what to repair, are removed last. Returns the number of removed
 * events.
 */
export async function rollbackTo(
  store: Store,
  {
    checkpoint,
    target,
    guard,
    observed,
  }: {
    checkpoint: CheckpointRow;
    target: RollbackTarget;
    guard: Guard;
    /** All pools whose balances were read beyond the target, where they are known; else they are looked for. */
    observed?: readonly string[] | undefined;
  },
): Promise<number> {
  const { chainId } = checkpoint;
  const after = { chainId, blockNumber: { gt: target.number } };
  const scans = await store.find(discoveries, { filter: { chainId } });
  const removed = await store.find(poolEvents, { filter: after, fields: REMOVED_FIELDS });
  const gonePools = await store.find(pools, { filter: { chainId, createdBlock: { gt: target.number } } });
  const gone = new Set(gonePools.map((pool) => pool.poolAddress));
  const removedOf = groupByPool(removed);

  const repairs: WriteStep[] = [];
  const kept = new Map<string, readonly RemovedEvent[]>();
  for (const [poolAddress, events] of removedOf) {
    if (gone.has(poolAddress)) repairs.push(...removeSwaps({ chainId, poolAddress, events }));
    else kept.set(poolAddress, events);
  }
  repairs.push(...(await repairPools(store, { chainId, removedOf: kept, target })));
  const steps: WriteStep[] = [
    ...guardedPut(guard, checkpoints, {
      ...checkpoint,
      blockNumber: target.number,
      blockHash: target.hash,
      blockTime: target.time,
    }),
    put(discoveries, rewindScans(scans, target.number)),
    ...repairs,
    put(poolStates, await forgetBalances(store, { chainId, target, repaired: removedOf, observed })),
    ...(await repairPositions(store, { chainId, target })),
    ...removeAnchors(checkpoint, target),
    removeWhere(lpEvents, after),
    removeWhere(gauges, { chainId, createdBlock: { gt: target.number } }),
    removeWhere(poolFees, { chainId, block: { gt: target.number } }),
    removeWhere(factoryFees, { chainId, block: { gt: target.number } }),
    removeWhere(observations, after),
    removeWhere(headers, { chainId, number: { gt: target.number } }),
    removeWhere(priceLinks, after),
    removeWhere(feedAnswers, after),
    removeWhere(poolEvents, after),
    ...(await removePriceStart(store, { chainId, target })),
    // After their events: without its pool an event cannot be undone.
    ...(await removePools(store, { chainId, gonePools })),
  ];
  await store.write(steps);
  return removed.length;
}

/** Balances that were read beyond the target, of pools that keep all their events: the next head reads them again. */
async function forgetBalances(
  store: Store,
  {
    chainId,
    target,
    repaired,
    observed,
  }: {
    chainId: number;
    target: RollbackTarget;
    repaired: ReadonlyMap<string, unknown>;
    observed: readonly string[] | undefined;
  },
): Promise<PoolStateRow[]> {
  const stored =
    observed === undefined
      ? await store.find(poolStates, { filter: { chainId, balanceBlock: { gt: target.number } } })
      : await getPoolStates(store, { chainId, addresses: observed });
  return stored
    .filter(({ poolAddress, balanceBlock }) => balanceBlock > target.number && !repaired.has(poolAddress))
    .map((row) => ({ ...row, balanceBlock: -1 }));
}

/** What was read at the block before the index is of no use once another block has replaced that one. */
async function removePriceStart(
  store: Store,
  { chainId, target }: { chainId: number; target: RollbackTarget },
): Promise<WriteStep[]> {
  const start = await getPriceStart(store, chainId);
  if (start === undefined || target.number > start.blockNumber || target.hash === start.blockHash) return [];
  return [
    removeWhere(inactivePools, { chainId }),
    removeWhere(feedAnswers, { chainId }),
    removeWhere(priceLinks, { chainId, hops: { gt: 0 } }),
    removeWhere(priceStarts, { chainId }),
  ];
}

/** Only where the block before the index was itself replaced: what wallets held there may be another amount now. */
function removeAnchors({ chainId, fromBlock }: CheckpointRow, target: RollbackTarget): WriteStep[] {
  if (target.number >= fromBlock) return [];
  return [removeWhere(knownWallets, { chainId }), removeWhere(lpAnchors, { chainId })];
}

/** Removes all rows of a pool that was created after the target. */
function removeSwaps({
  chainId,
  poolAddress,
  events,
}: {
  chainId: number;
  poolAddress: string;
  events: readonly RemovedEvent[];
}): WriteStep[] {
  const users = new Set(events.filter((event) => event.kind === "swap").map((event) => event.sender));
  return [
    remove(
      poolUsers,
      [...users].map((user) => ({ chainId, poolAddress, user })),
    ),
    ...removeRollupsFrom({ chainId, poolAddress, starts: [0, 0, 0] }),
    ...removeV2From({ chainId, poolAddress, time: 0 }),
    remove(poolStates, [{ chainId, poolAddress }]),
  ];
}

async function removePools(
  store: Store,
  { chainId, gonePools }: { chainId: number; gonePools: readonly PoolRow[] },
): Promise<WriteStep[]> {
  if (gonePools.length === 0) return [];
  const gone = new Set(gonePools.map((pool) => pool.poolAddress));
  const goneTokens: string[] = [];
  for (const token of new Set(gonePools.flatMap((pool) => [pool.token0Address, pool.token1Address]))) {
    if (!(await isTokenOfAnotherPool(store, { chainId, token, gone }))) goneTokens.push(token);
  }
  return [
    remove(
      tokens,
      goneTokens.map((address) => ({ chainId, address })),
    ),
    remove(
      poolListings,
      gonePools.map(({ family, poolAddress }) => ({ chainId, family, poolAddress })),
    ),
    remove(
      poolStates,
      [...gone].map((poolAddress) => ({ chainId, poolAddress })),
    ),
    remove(
      pools,
      [...gone].map((poolAddress) => ({ chainId, poolAddress })),
    ),
  ];
}

async function isTokenOfAnotherPool(
  store: Store,
  { chainId, token, gone }: { chainId: number; token: string; gone: ReadonlySet<string> },
): Promise<boolean> {
  for (const side of [{ token0Address: token }, { token1Address: token }]) {
    const others = await store.find(poolListings, {
      filter: { chainId, family: { in: ["dexa", "dexb", "clones"] }, ...side },
      limit: gone.size + 1,
      fields: ["poolAddress"],
    });
    if (others.some((row) => !gone.has(row.poolAddress))) return true;
  }
  return false;
}
