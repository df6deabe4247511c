import { requireStoredFinal } from "../../shared/evm/finality/finality.ts";
import { checkGenesis, headerAt } from "../../shared/evm/finality/genesis.ts";
import type { EvmSource, StoredBlock } from "../../shared/evm/port.ts";
import { indexIdentityOf } from "../../shared/index/evm/fork.ts";
import type { Guard } from "../../shared/storage/lease.ts";
import type { Store } from "../../shared/storage/port.ts";
import type { CheckpointRow } from "../store/collections.ts";
import { getCheckpoint } from "../store/queries.ts";
import { findLastRow } from "./fork.ts";
import { startSteps } from "./write.ts";

/**
 * Blocks before the head that are indexed first: nodes without an archive have the state of the block before them, which
 * the first prices rest on.
 */
const START_DEPTH = 32;

/**
 * The stored checkpoint, or on a first run one just before the first block to index: `startBlock`, else one just
 * below the head, from which history grows backwards (history/); the price anchors are stored with it, so other stablecoins need a new index. Throws
 * OtherChain where the store has another genesis.
 */
export async function openCheckpoint(
  store: Store,
  {
    source,
    startBlock,
    anchors,
    guard,
  }: { source: EvmSource; anchors: readonly string[]; startBlock: number | undefined; guard?: Guard },
): Promise<CheckpointRow> {
  const stored = await getCheckpoint(store, source.chainId);
  // Comes first, to distinguish an endpoint of another chain from a store of another one.
  if (stored !== undefined)
    await requireStoredFinal({ store, source }, indexIdentityOf(store, stored, findLastRow));
  const genesisHash = await checkGenesis(source, stored?.genesisHash);
  if (stored !== undefined) return stored;
  const head = await source.head();
  const fromBlock = startBlock ?? Math.max(0, head.number - START_DEPTH);
  const before = await blockBefore(source, fromBlock);
  const first = await headerAt(source, fromBlock);
  const checkpoint: CheckpointRow = {
    chainId: source.chainId,
    blockNumber: before.number,
    blockHash: before.hash,
    blockTime: before.time,
    fromBlock,
    fromTime: first.timestamp,
    chainHead: head.number,
    genesisHash,
  };
  await store.write(startSteps(checkpoint, anchors, guard));
  await requireStoredFinal({ store, source }, indexIdentityOf(store, checkpoint, findLastRow));
  return checkpoint;
}

const ZERO_HASH = `0x${"0".repeat(64)}`;

/** The block before the first indexed one. The one before block 0 does not exist: its hash is zero. */
export async function blockBefore(source: EvmSource, fromBlock: number): Promise<StoredBlock> {
  if (fromBlock === 0) return { number: -1, hash: ZERO_HASH, time: 0 };
  const { number, hash, timestamp } = await headerAt(source, fromBlock - 1);
  return { number, hash, time: timestamp };
}
