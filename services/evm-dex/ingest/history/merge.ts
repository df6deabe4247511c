import { put, type WriteStep } from "../../../shared/storage/port.ts";
import { poolEvents, poolStates } from "../../store/collections.ts";
import { getPools } from "../../store/queries.ts";
import { lpEvents } from "../../store/v2-collections.ts";
import { announceGone } from "../retention/marks.ts";
import type { ChainSync } from "../sync.ts";
import type { MergedStores } from "./merge-buckets.ts";
import { lastEvents, oldRows } from "./merge-old.ts";
import { mergeSwaps } from "./merge-pool.ts";
import { dropStart, holdStart, lastLinks, mergeAnswers, pastLinks, releaseStart } from "./merge-prices.ts";
import { mergeStates } from "./merge-states.ts";
import { newestRows, ROWS_A_WRITE } from "./newest-rows.ts";

/** Pools of one write: the minutes of a day are some thousand rows a pool. */
const POOLS_A_WRITE = 20;

/**
 * Merges an indexed chunk into the index, in short writes between those of the head, and at last moves the beginning
 * of the index to the chunk's. Every write may be repeated: a run that was killed merges all of it again. Until the
 * last one no response uses any of it, since all windows that reach before the beginning are null.
 */
export async function mergeChunk(
  sync: ChainSync,
  { at, signal }: { at: MergedStores; signal: AbortSignal },
): Promise<boolean> {
  const { main, past, chunk } = at;
  const { chainId } = chunk;
  const isOld = chunk.detail !== "events";
  if (isOld) await sync.writeBetween(() => announceGone({ chainId, store: main }, sync.checkpoint));
  const ended = await lastLinks(past, { chainId, to: chunk.to });
  // Of a beginning whose rows are gone nobody is told prices.
  const isStartTold = !isOld || at.fromTime >= at.keptFrom.rows;
  await sync.writeBetween(() => (isStartTold ? holdStart(at, ended) : dropStart(at)));
  for await (const step of isOld ? oldRows(at, { ended, isStartTold }) : pastLinks(at)) {
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
  for await (const step of isOld ? lastEvents(at, addresses) : mergeEvents(at)) {
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
  await sync.extend(chunk.from, async () => [
    ...(await mergeStates(at)),
    ...(isStartTold ? await releaseStart(at, ended) : []),
    ...(await mergeAnswers(at)),
  ]);
  return true;
}

/**
 * The chunk's events, newest first: while some are stored, the last row before the index is that of the pool's last event
 * before it. By block: pool by pool, every event would change the page of another block (docs/decisions/0134).
 * @param pageSize rows of a write; all but tests use the default
 */
export async function* mergeEvents(
  { past, chunk }: Pick<MergedStores, "past" | "chunk">,
  pageSize = ROWS_A_WRITE,
): AsyncGenerator<WriteStep> {
  // In the order of the key: rows that are put before each other leave pages half full.
  for await (const page of newestRows(past, { collection: poolEvents, chunk, pageSize }))
    yield put(poolEvents, [...page].reverse());
}
