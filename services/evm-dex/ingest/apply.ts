import type { EvmSource } from "../../shared/evm/port.ts";
import type { Guard } from "../../shared/storage/lease.ts";
import type { Store } from "../../shared/storage/port.ts";
import { protocolOf } from "../protocols/index.ts";
import type { CheckpointRow } from "../store/collections.ts";
import { anchorPositions } from "./anchor-positions.ts";
import { readAnchors } from "./anchors.ts";
import { observeBalances } from "./balances.ts";
import type { Chunk } from "./chunk.ts";
import type { Indexer } from "./indexer.ts";
import type { LpWatch } from "./lp-watch.ts";
import { describePools } from "./new-pools.ts";
import type { NewHead } from "./snapshots.ts";
import type { FeeBook } from "./state/fee-book.ts";
import type { Strangers } from "./strangers.ts";
import type { TokenReader } from "./tokens.ts";
import { writeProgress } from "./write.ts";

/** What turns chunks into stored rows; made anew after a rollback. */
export interface Workbench {
  readonly store: Store;
  readonly source: EvmSource;
  readonly indexer: Indexer;
  readonly fees: FeeBook;
  readonly strangers: Strangers;
  /** For the fetchers, which run ahead: pools that get LP tokens are known to all of them. */
  readonly watch: LpWatch;
  readonly tokens: TokenReader;
  readonly guard: Guard;
}

export interface ApplyOptions {
  readonly checkpoint: CheckpointRow;
  readonly chainHead: number;
  /** Whether balances and fees are read: at the head, not during backfill. */
  readonly observe: boolean;
}

/** A chunk has words of pools that were not known when it was read: it must be read again. */
export class UnseenPools extends Error {
  override readonly name = "UnseenPools";
}

/** Adds one chunk to the store; answers the checkpoint it wrote and the pools that had events. Throws UnseenPools. */
export async function applyChunk(bench: Workbench, of: ApplyOptions & { chunk: Chunk }): Promise<NewHead> {
  const { indexer, source } = bench;
  const { chunk, checkpoint, chainHead } = of;
  await meetStrangers(bench, of);
  const described = await describePools(bench, {
    chainId: source.chainId,
    created: chunk.created,
    // Symbols and decimals do not change: asked for at the head, whose state every node has.
    block: chainHead,
  });
  for (const token of described.tokens) indexer.addToken(token);
  for (const pool of described.pools) indexer.addPool(pool);
  for (const { gauge, voter, pool, block } of chunk.gauges) {
    indexer.addGauge({ chainId: source.chainId, gauge, poolAddress: pool, voter, createdBlock: block });
  }
  await anchorPools(bench, of);
  await indexer.prepare(chunk.blocks);
  await anchorPositions(source, { indexer, chunk, fromBlock: checkpoint.fromBlock });
  for (const block of chunk.blocks) indexer.addBlock(block);
  const taken = indexer.take();
  const head = chunk.last.number;
  const hashes = new Map([...chunk.blocks, chunk.last].map(({ number, hash }) => [number, hash]));
  const hashOf = (block: number) => hashes.get(block);
  if (of.observe) await observeBalances(source, { pools: taken.touched, head, hashOf });
  const fees = of.observe
    ? await bench.fees.refresh(source, { pools: indexer.pools, head, fromBlock: checkpoint.fromBlock })
    : [];
  const next: CheckpointRow = {
    ...checkpoint,
    blockNumber: chunk.last.number,
    blockHash: chunk.last.hash,
    blockTime: chunk.last.time,
    chainHead: Math.max(chainHead, chunk.last.number),
  };
  await writeProgress(bench.store, {
    indexer,
    taken,
    guard: bench.guard,
    progress: { checkpoint: next, fees, headers: chunk.headers },
  });
  const traded = taken.touched.filter((entry) => entry.lastBlock > checkpoint.blockNumber);
  return { checkpoint: next, touched: traded.map((entry) => entry.row) };
}

/** Pools of ours whose creation no node told of are made known, as if one had; they are written with their first events. */
async function meetStrangers(bench: Workbench, of: ApplyOptions & { chunk: Chunk }): Promise<void> {
  const { indexer, source, watch } = bench;
  const { chainId } = source;
  const met = await bench.strangers.identify(of.chunk.strangers);
  if (met.length === 0) return;
  const created = met.map(({ pool }) => pool);
  const described = await describePools(bench, { chainId, created, block: of.chainHead });
  for (const token of described.tokens) indexer.addToken(token);
  for (const pool of described.pools) {
    indexer.addPool(pool);
    if (protocolOf(pool.protocol).lpTokens !== undefined) watch.add(pool.poolAddress);
  }
  for (const { pool, gauge } of met) {
    if (gauge !== undefined) indexer.addGauge({ chainId, poolAddress: pool.pool, ...gauge });
  }
  throw new UnseenPools(`No node told that ${created.map(({ pool }) => pool).join(", ")} had been created.`);
}

/** Pools older than the index start from what the chain says of them just before their first event here. */
async function anchorPools(bench: Workbench, of: ApplyOptions & { chunk: Chunk }): Promise<void> {
  const { indexer, source } = bench;
  const firstBlock = new Map<string, number>();
  for (const block of of.chunk.blocks) {
    for (const { poolAddress } of block.events) {
      if (!firstBlock.has(poolAddress)) firstBlock.set(poolAddress, block.number);
    }
  }
  await indexer.pools.prepare(firstBlock.keys());
  const older = [...firstBlock].flatMap(([pool, block]) => {
    const entry = indexer.pools.get(pool);
    const isOld = entry?.anchor === undefined && (entry?.row.createdBlock ?? block) < of.checkpoint.fromBlock;
    return entry !== undefined && isOld ? [{ entry, block, gauge: indexer.gauges.at(pool, block - 1) }] : [];
  });
  await readAnchors(source, { pools: older, head: of.chainHead });
  for (const { entry } of older) indexer.prices.anchor(entry);
}
