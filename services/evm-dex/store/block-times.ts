/** Which blocks the index knows the times of: the last ones by their headers, others by their rows. */
import { headers } from "../../shared/index/evm/headers.ts";
import type { Store } from "../../shared/storage/port.ts";
import { blockAfter } from "./block-after.ts";
import { type CheckpointRow, poolEvents, priceLinks } from "./collections.ts";

export interface KnownBlock {
  readonly number: number;
  /** Unix seconds. */
  readonly time: number;
  readonly hash?: string | undefined;
}

/** The last known block up to one that is indexed; undefined before the first. */
export async function findKnownBlock(
  store: Store,
  { checkpoint, block }: { checkpoint: CheckpointRow; block: number },
): Promise<KnownBlock | undefined> {
  const { chainId, blockNumber, blockTime, blockHash, fromBlock, fromTime } = checkpoint;
  if (block >= blockNumber) return { number: blockNumber, time: blockTime, hash: blockHash };
  const upTo = { chainId, blockNumber: { lte: block } };
  const [header, [event], [link]] = await Promise.all([
    store.get(headers, { chainId, number: block }),
    store.find(poolEvents, {
      filter: upTo,
      order: [
        { field: "blockNumber", direction: "desc" },
        { field: "logIndex", direction: "desc" },
      ],
      limit: 1,
      fields: ["blockNumber", "time", "blockHash"],
    }),
    store.find(priceLinks, {
      filter: upTo,
      order: [{ field: "blockNumber", direction: "desc" }],
      limit: 1,
      fields: ["blockNumber", "time"],
    }),
  ]);
  if (header !== undefined) return { number: block, time: header.time, hash: header.hash };
  if (event !== undefined && event.blockNumber >= Math.max(fromBlock, link?.blockNumber ?? 0))
    return { number: event.blockNumber, time: event.time, hash: event.blockHash };
  if (link !== undefined && link.blockNumber >= fromBlock)
    return { number: link.blockNumber, time: link.time };
  return block < fromBlock ? undefined : { number: fromBlock, time: fromTime };
}

/** The last known block at or before a time; undefined before the first. */
export async function findKnownBlockAt(
  store: Store,
  { checkpoint, time }: { checkpoint: CheckpointRow; time: number },
): Promise<KnownBlock | undefined> {
  const { chainId, blockNumber, blockTime, fromBlock, fromTime } = checkpoint;
  if (time < fromTime) return undefined;
  if (time >= blockTime) return findKnownBlock(store, { checkpoint, block: blockNumber });
  const at = { chainId, time: time + 1, low: fromBlock, high: blockNumber };
  const next = await blockAfter(store, { clock: poolEvents, ...at });
  // Up to the next event, which is later than the time.
  const end = (await firstEventFrom(store, { chainId, block: next }))?.number ?? blockNumber;
  const [header] = await store.find(headers, {
    filter: { chainId, number: { gte: next, lt: end }, time: { lte: time } },
    order: [{ field: "number", direction: "desc" }],
    limit: 1,
  });
  const [link] = await store.find(priceLinks, {
    filter: { chainId, blockNumber: { gte: next, lt: end }, time: { lte: time } },
    order: [{ field: "blockNumber", direction: "desc" }],
    limit: 1,
    fields: ["blockNumber"],
  });
  const block = Math.max(next - 1, header?.number ?? 0, link?.blockNumber ?? 0, fromBlock);
  return findKnownBlock(store, { checkpoint, block });
}

/** The first block with events from one on. */
export async function firstEventFrom(
  store: Store,
  { chainId, block }: { chainId: number; block: number },
): Promise<KnownBlock | undefined> {
  const [event] = await store.find(poolEvents, {
    filter: { chainId, blockNumber: { gte: block } },
    order: [{ field: "blockNumber", direction: "asc" }],
    limit: 1,
    fields: ["blockNumber", "time", "blockHash"],
  });
  return event && { number: event.blockNumber, time: event.time, hash: event.blockHash };
}
