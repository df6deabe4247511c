import type { EvmSource, Hex } from "../../../shared/evm/port.ts";
import type { SyncLog } from "../../../shared/index/follow-head.ts";
import type { Guard } from "../../../shared/storage/lease.ts";
import { put, removeWhere, type Store } from "../../../shared/storage/port.ts";
import {
  type CheckpointRow,
  feedAnswers,
  type InactivePoolRow,
  inactivePools,
  type PriceLinkRow,
  type PriceStartRow,
  pools,
  priceLinks,
  priceStarts,
} from "../../store/collections.ts";
import { toAnchorRows, toLinkRow } from "../../store/price-links.ts";
import { getPriceStart } from "../../store/queries.ts";
import type { FeedAnswer, FeedContracts } from "../feeds/feed-contracts.ts";
import { GaugeBook } from "../state/gauge-book.ts";
import type { PoolEntry } from "../state/pool-book.ts";
import { PoolPrices, pointOf } from "../state/pool-prices.ts";
import { toAnswerRows } from "../write.ts";
import { readOlderPools } from "./older-pools.ts";
import { StateReader } from "./state-reader.ts";

export interface PriceStartContext {
  readonly store: Store;
  readonly source: EvmSource;
  readonly anchors: readonly string[];
  readonly feedContracts: FeedContracts;
  readonly guard: Guard;
  readonly signal: AbortSignal;
  readonly log: SyncLog;
  /**
   * Whether the state at the head may stand for the one at the start where no node has that: not far from the head,
   * where it is another one.
   */
  readonly mayReadHead?: boolean;
}

/**
 * Before the first block is indexed: reads the pools older than the index that may price a token, and writes the
 * prices of the block before it, so that a block's prices do not depend on where the index began. Once; a run that
 * was killed is continued. Returns whether there was anything to do. Throws ReorgDetected where the block before was
 * replaced.
 */
export async function readPriceStart(
  context: PriceStartContext,
  checkpoint: CheckpointRow,
): Promise<boolean> {
  const { store, anchors, guard, log } = context;
  const { chainId, blockNumber, blockHash, blockTime, fromBlock } = checkpoint;
  if (blockNumber < 0 || blockNumber >= fromBlock) return false;
  const known = await getPriceStart(store, chainId);
  if (known?.isComplete) return false;
  const start: PriceStartRow = { chainId, blockNumber, blockHash, time: blockTime, isComplete: false };
  if (known === undefined) await store.write([...guard(), put(priceStarts, [start])]);
  const reader = await openReader(context, start);
  const isUsable = context.mayReadHead !== false || reader.block.number === blockNumber;
  const entries = isUsable ? await readEntries(context, { reader, start }) : [];
  const answers = await readAnswers(context, reader, blockNumber);
  await store.write([
    ...guard(),
    put(feedAnswers, toAnswerRows(answers, chainId)),
    removeWhere(priceLinks, { chainId }),
    put(priceLinks, linksAt(entries, { anchors, start, answers })),
    put(priceStarts, [{ ...start, isComplete: true }]),
  ]);
  if (entries.length > 0)
    log("info", `Read ${entries.length} pools older than the index that may price tokens.`, { blockNumber });
  return true;
}

async function openReader(
  { source, log, mayReadHead }: PriceStartContext,
  { blockNumber, blockHash }: PriceStartRow,
): Promise<StateReader> {
  const reader = await StateReader.open(source, { number: blockNumber, hash: blockHash as Hex });
  if (reader.block.number !== blockNumber && mayReadHead !== false) {
    log(
      "warn",
      `No endpoint has the state of block ${blockNumber}: the prices before a pool's first event rest on its \
state at the head (${reader.block.number}). A node with that state gives the right ones; see docs/real-chains.md.`,
    );
  }
  return reader;
}

async function readEntries(
  { store, anchors, guard, log, signal }: PriceStartContext,
  { reader, start }: { reader: StateReader; start: PriceStartRow },
): Promise<PoolEntry[]> {
  const { chainId, blockNumber } = start;
  const older = await store.count(pools, { chainId, createdBlock: { lte: blockNumber } });
  if (older > 0) log("info", "Looking which pools older than the index may price tokens.", { pools: older });
  const gauges = new GaugeBook();
  await gauges.load(store, chainId);
  const save = (rows: readonly InactivePoolRow[]) => store.write([...guard(), put(inactivePools, [...rows])]);
  return readOlderPools({ store, reader, gauges, chainId, anchors, start, signal, save });
}

/** What the feeds said last; nothing where only the head can be read, which they have told later. */
async function readAnswers(
  { feedContracts }: PriceStartContext,
  reader: StateReader,
  blockNumber: number,
): Promise<FeedAnswer[]> {
  if (reader.block.number !== blockNumber || feedContracts.isEmpty) return [];
  return feedContracts.readLatest(await reader.call(feedContracts.latestCalls), blockNumber);
}

/** The links of all tokens that these pools price at the start, and of the anchors. */
function linksAt(
  entries: readonly PoolEntry[],
  {
    anchors,
    start,
    answers,
  }: { anchors: readonly string[]; start: PriceStartRow; answers: readonly FeedAnswer[] },
): PriceLinkRow[] {
  const prices = new PoolPrices(anchors);
  for (const entry of entries) {
    const point = pointOf(entry, 0);
    if (point !== undefined) prices.loadPool(entry, [point], start.time);
  }
  prices.feeds.add(answers);
  prices.setAnchors(start);
  prices.graph.update(start.time);
  const rows = new Map(toAnchorRows(anchors, start).map((row) => [row.token, row]));
  for (const change of prices.graph.takeLinks()) rows.set(change.token, toLinkRow(change, start));
  return [...rows.values()];
}
