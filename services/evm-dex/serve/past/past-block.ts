import {
  type AsOf,
  blockText,
  notKeptError,
  requireIndexed,
  sentAsOf,
} from "../../../shared/contract/as-of.ts";
import type { DataVersion } from "../../../shared/contract/endpoint.ts";
import { finalBlocks } from "../../../shared/evm/finality/finality.ts";
import type { Store } from "../../../shared/storage/port.ts";
import { blockAfter } from "../../store/block-after.ts";
import {
  findKnownBlock,
  findKnownBlockAt,
  firstEventFrom,
  type KnownBlock,
} from "../../store/block-times.ts";
import { type CheckpointRow, poolEvents, priceLinks } from "../../store/collections.ts";
import { listRetentions } from "../../store/retention.ts";
import type { NeededRows } from "../../views/view.ts";

interface PastQuery {
  readonly checkpoint: CheckpointRow;
  readonly asOf: AsOf;
  readonly needs?: readonly NeededRows[] | undefined;
}

/**
 * The block that an answer shall be of: the asked one, or the last one before it of which the index knows the time. In the
 * blocks between, no pool had an event and no price changed. Throws not_found for one that is not indexed or whose rows
 * are no longer stored, with the earliest block that has all of them.
 */
export async function resolvePastBlock(store: Store, query: PastQuery): Promise<KnownBlock> {
  const { asOf, checkpoint } = query;
  const { chainId, blockNumber, blockTime } = checkpoint;
  const { name, value } = sentAsOf(asOf);
  const head = { block: blockNumber, time: blockTime };
  requireIndexed(asOf, head);
  const bounds = await readBounds(store, query);
  const found =
    name === "at_time"
      ? await findKnownBlockAt(store, { checkpoint, time: value })
      : value < bounds.block
        ? undefined
        : await findKnownBlock(store, { checkpoint, block: value });
  if (found !== undefined && found.number >= bounds.block && found.time >= bounds.time) return found;
  const at = { clock: poolEvents, chainId, low: bounds.block, high: blockNumber };
  const block = await blockAfter(store, { ...at, time: bounds.time });
  const earliest = await firstEventFrom(store, { chainId, block });
  const told = earliest === undefined ? head : { block: earliest.number, time: earliest.time };
  throw notKeptError(asOf, `is below the earliest that is kept, ${blockText(told)}`);
}

/** The first block and the first second of which all rows that an answer needs are stored. */
async function readBounds(
  store: Store,
  { checkpoint, needs = [] }: PastQuery,
): Promise<{ block: number; time: number }> {
  const kept = await listRetentions(store, checkpoint.chainId);
  const blocks = [poolEvents.name, priceLinks.name].map((rows) => kept.get(rows)?.blockNumber ?? 0);
  const times = needs.map(({ rows, seconds }) => {
    const row = kept.get(rows);
    return row === undefined || row.time === 0 ? 0 : row.time + seconds;
  });
  return { block: Math.max(checkpoint.fromBlock, ...blocks), time: Math.max(0, ...times) };
}

/** A checkpoint that ends with an earlier block. */
export function checkpointAt(checkpoint: CheckpointRow, { number, time, hash }: KnownBlock): CheckpointRow {
  return { ...checkpoint, blockNumber: number, blockTime: time, blockHash: hash ?? "" };
}

/** What an answer about an earlier block is told to be of. */
export async function pastVersionOf(
  store: Store,
  { checkpoint, block }: { checkpoint: CheckpointRow; block: KnownBlock },
): Promise<DataVersion> {
  const { chainId, blockNumber: head, fromBlock } = checkpoint;
  const final = await store.get(finalBlocks, { chainId });
  return {
    block: block.number,
    time: block.time,
    ...(block.hash !== undefined && { blockHash: block.hash }),
    ...{ fromBlock, head },
    isFinal: final !== undefined && block.number <= final.number,
  };
}
