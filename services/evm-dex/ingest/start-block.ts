import { requireStoredFinal } from "../../shared/evm/finality/finality.ts";
import { checkGenesis, headerAt } from "../../shared/evm/finality/genesis.ts";
import type { BlockHeader, EvmSource, StoredBlock } from "../../shared/evm/port.ts";
import { indexIdentityOf } from "../../shared/index/evm/fork.ts";
import type { Store } from "../../shared/storage/port.ts";
import type { CheckpointRow } from "../store/collections.ts";
import { getCheckpoint } from "../store/queries.ts";
import { findLastRow } from "./fork.ts";
import { startSteps } from "./write.ts";

const DEFAULT_DEPTH_SECONDS = 7 * 86_400;

/**
 * The stored checkpoint, or on a first run one just before the first block to index: `startBlock`, else the first
 * block of the last seven days; the price anchors are stored with it, so other stablecoins need a new index. Throws
 * OtherChain where the store has another genesis.
 */
export async function openCheckpoint(
  store: Store,
  {
    source,
    startBlock,
    anchors,
  }: { source: EvmSource; anchors: readonly string[]; startBlock: number | undefined },
): Promise<CheckpointRow> {
  const stored = await getCheckpoint(store, source.chainId);
  // Comes first, to distinguish an endpoint of another chain from a store of another one.
  if (stored !== undefined)
    await requireStoredFinal({ store, source }, indexIdentityOf(store, stored, findLastRow));
  const genesisHash = await checkGenesis(source, stored?.genesisHash);
  if (stored !== undefined) return stored;
  const head = await source.head();
  const fromBlock = startBlock ?? (await firstBlockSince(source, { head, seconds: DEFAULT_DEPTH_SECONDS }));
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
  await store.write(startSteps(checkpoint, anchors));
  await requireStoredFinal({ store, source }, indexIdentityOf(store, checkpoint, findLastRow));
  return checkpoint;
}

/** The first block within `seconds` before the head: a binary search over timestamps. */
async function firstBlockSince(
  source: EvmSource,
  { head, seconds }: { head: BlockHeader; seconds: number },
): Promise<number> {
  const since = head.timestamp - seconds;
  let low = 0;
  let high = head.number;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((await headerAt(source, middle)).timestamp >= since) high = middle;
    else low = middle + 1;
  }
  return low;
}

const ZERO_HASH = `0x${"0".repeat(64)}`;

/** The block before the first indexed one. The one before block 0 does not exist: its hash is zero. */
export async function blockBefore(source: EvmSource, fromBlock: number): Promise<StoredBlock> {
  if (fromBlock === 0) return { number: -1, hash: ZERO_HASH, time: 0 };
  const { number, hash, timestamp } = await headerAt(source, fromBlock - 1);
  return { number, hash, time: timestamp };
}
