import { put, type WriteStep } from "../../../shared/storage/port.ts";
import { poolEvents, poolStates } from "../../store/collections.ts";
import { getPools, lastEventsUpTo } from "../../store/queries.ts";
import { lpEvents } from "../../store/v2-collections.ts";
import type { ChainSync } from "../sync.ts";
import type { MergedStores } from "./merge-buckets.ts";
import { mergeSwaps } from "./merge-pool.ts";
import { holdStart, pastLinks, releaseStart } from "./merge-prices.ts";
import { mergeStates } from "./merge-states.ts";
import { newestRows } from "./newest-rows.ts";

/** Pools of one write: the minutes of a day are some thousand rows a pool. */
const POOLS_A_WRITE = 20;
/** Pools whose last event is looked up at once. */
const POOLS_A_READ = 500;
const MAX_TIME = Number.MAX_SAFE_INTEGER;

/**
 * Merges an indexed chunk into the index, in short writes between those of the head, and at last moves the beginning
 * of the index to the chunk's. Every write may be repeated: a run that was killed merges all of it again. Until the
 * last one no response uses any of it, since all windows that reach before the beginning are null.
 * @param keepRowsFrom Unix seconds; older events are in rollups alone
 */
export async function mergeChunk(
  sync: ChainSync,
  { at, keepRowsFrom, signal }: { at: MergedStores; keepRowsFrom: number; signal: AbortSignal },
): Promise<boolean> {
  const { past, chunk } = at;
  const { chainId } = chunk;
  await sync.writeBetween(() => holdStart(at));
  for await (const step of pastLinks(at)) {
    if (signal.aborted) return false;
    await sync.writeBetween(() => [step]);
  }
  const touched = await past.find(poolStates, {
    filter: { chainId },
    fields: ["poolAddress", "lastBlock"],
  });
  const addresses = touched
    .filter(({ lastBlock }) => lastBlock >= chunk.from.number)
    .map(({ poolAddress }) => poolAddress);
  for await (const step of mergeEvents(at, { addresses, keepRowsFrom })) {
    if (signal.aborted) return false;
    await sync.writeBetween(() => [step]);
  }
  for (let i = 0; i < addresses.length; i += POOLS_A_WRITE) {
    const pools = await getPools(past, { chainId, addresses: addresses.slice(i, i + POOLS_A_WRITE) });
    await sync.writeBetween(
      async (finalTime) =>
        (await Promise.all(pools.map((pool) => mergeSwaps(at, { pool, finalTime })))).flat(),
      pools.map(({ poolAddress }) => poolAddress),
    );
    if (signal.aborted) return false;
  }
  for await (const rows of newestRows(past, { collection: lpEvents, chunk }))
    await sync.writeBetween(() => [put(lpEvents, rows)]);
  await sync.extend(chunk.from, async () => [...(await mergeStates(at)), ...(await releaseStart(at))]);
  return true;
}

/**
 * Puts the chunk's events, newest first: while some are stored, the last row before the index is that of the pool's last event
 * before it. By block: pool by pool, every event would change the page of another block (docs/decisions/0134).
 */
async function* mergeEvents(
  { past, chunk }: MergedStores,
  { addresses, keepRowsFrom }: { addresses: readonly string[]; keepRowsFrom: number },
): AsyncGenerator<WriteStep> {
  const without = new Set(addresses);
  for await (const page of newestRows(past, { collection: poolEvents, chunk, since: keepRowsFrom })) {
    for (const { poolAddress } of page) without.delete(poolAddress);
    // In the order of the key: rows that are put before each other leave pages half full.
    yield put(poolEvents, page.reverse());
  }
  // A pool's last event tells its state, however old it is.
  const pools = [...without];
  for (let i = 0; i < pools.length; i += POOLS_A_READ) {
    const keys = { chainId: chunk.chainId, pools: pools.slice(i, i + POOLS_A_READ), time: MAX_TIME };
    yield put(poolEvents, [...(await lastEventsUpTo(past, keys)).values()]);
  }
}
