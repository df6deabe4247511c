import { ReorgDetected } from "../../../shared/chain-errors.ts";
import type { BlockWithSenders, Hex, LogRange, RawLog } from "../../../shared/evm/port.ts";
import type { HeaderRow } from "../../../shared/index/evm/headers.ts";
import type { Factory } from "../../deployments.ts";
import type { PoolCreatedEvent } from "../../protocols/protocol.ts";
import type { FeedAnswer } from "../feeds/feed-contracts.ts";
import type { BlockEvents, PlacedEvent } from "../state/indexer.ts";
import type { CreatedLog, DecodedLog, NewGauge } from "./emitters.ts";

/** A pool created by a configured factory. */
export interface CreatedPool extends PoolCreatedEvent {
  readonly factory: Factory;
  readonly block: number;
  /** Unix seconds. */
  readonly time: number;
}

/** A gauge that a known pool's voter created. */
interface CreatedGauge extends NewGauge {
  readonly pool: string;
  readonly block: number;
}

/** A run of consecutive blocks, fetched and decoded: all that writing them needs from the chain. */
export interface BlockBatch {
  /** Parent of the first block: the writer compares it with the checkpoint. */
  readonly parent: { readonly number: number; readonly hash: string };
  readonly last: { readonly number: number; readonly hash: string; readonly time: number };
  readonly created: readonly CreatedPool[];
  readonly gauges: readonly CreatedGauge[];
  /** What feeds said, in the order of the chain. */
  readonly answers: readonly FeedAnswer[];
  /** Unknown contracts that emit pool events, with the block of each one's first event. */
  readonly unknownPools: ReadonlyMap<string, number>;
  /** Only blocks with events of known pools. */
  readonly blocks: readonly BlockEvents[];
  /** Every header of the batch near the head, none during backfill. */
  readonly headers: readonly HeaderRow[];
}

/** A log of a known contract, and its event. */
export interface PoolLog {
  readonly log: RawLog;
  readonly decoded: DecodedLog;
}

/** What the logs hold that is no event of a known pool. */
export interface AsideLogs {
  /** Block of the first event, by address. */
  readonly unknownPools: Map<string, number>;
  readonly answers: FeedAnswer[];
}

/** Assembles logs, in order, and their blocks to a batch. Throws ReorgDetected where they do not match. */
export function assembleBatch({
  poolLogs,
  blocks,
  range,
  parentHash,
  aside,
  headers,
}: {
  range: LogRange;
  poolLogs: readonly PoolLog[];
  aside: AsideLogs;
  blocks: ReadonlyMap<number, BlockWithSenders>;
  headers: readonly HeaderRow[];
  /** Of the range's first block. */
  parentHash: string;
}): BlockBatch {
  const created: CreatedPool[] = [];
  const gauges: CreatedGauge[] = [];
  const byBlock = new Map<number, { block: BlockWithSenders; events: PlacedEvent[] }>();
  for (const { log, decoded } of poolLogs) {
    const block = blockOf(log, blocks);
    if ("created" in decoded) {
      created.push(toCreatedPool(decoded, block));
      continue;
    }
    if (decoded.gauge !== undefined)
      gauges.push({ ...decoded.gauge, pool: decoded.pool, block: block.number });
    let entry = byBlock.get(block.number);
    if (entry === undefined) {
      entry = { block, events: [] };
      byBlock.set(block.number, entry);
    }
    entry.events.push({
      logIndex: log.logIndex,
      txHash: log.transactionHash,
      sender: block.senders[log.transactionIndex] as Hex,
      poolAddress: decoded.pool,
      event: decoded.event,
    });
  }
  const last = blocks.get(range.toBlock) as BlockWithSenders;
  return {
    parent: { number: range.fromBlock - 1, hash: parentHash },
    last: { number: last.number, hash: last.hash, time: last.timestamp },
    created,
    gauges,
    answers: aside.answers,
    unknownPools: aside.unknownPools,
    blocks: [...byBlock.values()].map(({ block, events }) => ({
      number: block.number,
      hash: block.hash,
      time: block.timestamp,
      events,
    })),
    headers,
  };
}

export function toCreatedPool(
  { factory, created }: CreatedLog,
  { number, timestamp }: Pick<BlockWithSenders, "number" | "timestamp">,
): CreatedPool {
  return { ...created, factory, block: number, time: timestamp };
}

/** The block of a log; separate requests fetched the two, so their hashes must agree. */
function blockOf(log: RawLog, blocks: ReadonlyMap<number, BlockWithSenders>): BlockWithSenders {
  const block = blocks.get(log.blockNumber);
  if (
    block === undefined ||
    block.hash !== log.blockHash ||
    block.senders[log.transactionIndex] === undefined
  ) {
    throw new ReorgDetected(
      `Block ${log.blockNumber} is ${block?.hash}, its log ${log.logIndex} says ${log.blockHash}.`,
    );
  }
  return block;
}
