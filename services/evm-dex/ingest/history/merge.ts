import { put, type WriteStep } from "../../../shared/storage/port.ts";
import { type PoolRow, poolEvents, poolStates } from "../../store/collections.ts";
import { getPools } from "../../store/queries.ts";
import { lpEvents } from "../../store/v2-collections.ts";
import type { ChainSync } from "../sync.ts";
import type { MergedStores } from "./merge-buckets.ts";
import { mergeSwaps, pastEvents, ROWS_A_WRITE } from "./merge-pool.ts";
import { holdStart, pastLinks, releaseStart } from "./merge-prices.ts";
import { mergeStates } from "./merge-states.ts";

/** Pools of one write: the minutes of a day are some thousand rows a pool. */
const POOLS_A_WRITE = 20;

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
  for (let i = 0; i < addresses.length; i += POOLS_A_WRITE) {
    const pools = await getPools(past, { chainId, addresses: addresses.slice(i, i + POOLS_A_WRITE) });
    await mergePools(sync, { at, pools, keepRowsFrom, signal });
    if (signal.aborted) return false;
  }
  for await (const step of pastLpEvents(at)) await sync.writeBetween(() => [step]);
  await sync.extend(chunk.from, async () => [...(await mergeStates(at)), ...(await releaseStart(at))]);
  return true;
}

async function mergePools(
  sync: ChainSync,
  {
    at,
    pools,
    keepRowsFrom,
    signal,
  }: { at: MergedStores; pools: readonly PoolRow[]; keepRowsFrom: number; signal: AbortSignal },
): Promise<void> {
  let steps: WriteStep[] = [];
  let rows = 0;
  const flush = async () => {
    const taken = steps;
    [steps, rows] = [[], 0];
    if (taken.length > 0) await sync.writeBetween(() => taken);
  };
  for (const pool of pools) {
    let isLast = true;
    for await (const page of pastEvents(at, pool)) {
      // The last one tells the pool's state, however old it is.
      const kept = page.filter(({ time }, i) => time >= keepRowsFrom || (isLast && i === 0));
      isLast = false;
      if (kept.length === 0) break;
      steps.push(put(poolEvents, kept));
      rows += kept.length;
      if (rows >= ROWS_A_WRITE) await flush();
    }
    if (signal.aborted) return;
  }
  await flush();
  await sync.writeBetween(
    async (finalTime) => (await Promise.all(pools.map((pool) => mergeSwaps(at, { pool, finalTime })))).flat(),
    pools.map(({ poolAddress }) => poolAddress),
  );
}

/** The moves of LP tokens, newest first. */
async function* pastLpEvents({ past, chunk }: MergedStores): AsyncGenerator<WriteStep> {
  const { chainId, from } = chunk;
  for (let to = chunk.to; ; ) {
    const page = await past.find(lpEvents, {
      filter: { chainId, blockNumber: { gte: from.number, lte: to } },
      order: [
        { field: "blockNumber", direction: "desc" },
        { field: "logIndex", direction: "desc" },
        { field: "wallet", direction: "desc" },
      ],
      limit: ROWS_A_WRITE,
    });
    yield put(lpEvents, page);
    if (page.length < ROWS_A_WRITE) return;
    // A block at the edge of a page comes twice.
    to = page.at(-1)?.blockNumber as number;
  }
}
