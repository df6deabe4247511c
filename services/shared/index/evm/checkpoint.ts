import type { DataVersion } from "../../contract/endpoint.ts";
import type { RowOf, TypedCollection } from "../../storage/collection.ts";

/** How far an EVM chain is indexed. A service may add fields of its own. */
export const CHECKPOINT_FIELDS = {
  chainId: "int",
  /** The last indexed block: all rows are as of it. */
  blockNumber: "int",
  blockHash: "text",
  /** Unix seconds of blockNumber. */
  blockTime: "int",
  /** The first indexed block: rows say nothing of earlier ones. */
  fromBlock: "int",
  fromTime: "int",
  /** The chain's head as last seen by the ingest. */
  chainHead: "int",
  /** Hash of block 0: another chain with the same id is refused. */
  genesisHash: "text",
} as const;

export type EvmCheckpoint = RowOf<TypedCollection<typeof CHECKPOINT_FIELDS>>;

/** Whether any block is indexed: the first checkpoint is that of the block before the first one. */
export function hasData<C extends Pick<EvmCheckpoint, "blockNumber" | "fromBlock">>(
  checkpoint: C | undefined,
): checkpoint is C {
  return checkpoint !== undefined && checkpoint.blockNumber >= checkpoint.fromBlock;
}

export function indexedBlock({ blockNumber, blockHash, blockTime }: EvmCheckpoint) {
  return { number: blockNumber, hash: blockHash, time: blockTime };
}

export function versionOf(checkpoint: EvmCheckpoint): DataVersion {
  return {
    block: checkpoint.blockNumber,
    time: checkpoint.blockTime,
    blockHash: checkpoint.blockHash,
    fromBlock: checkpoint.fromBlock,
  };
}

/** What live streams are told of a head. */
export function currentHead(checkpoint: EvmCheckpoint | undefined) {
  if (checkpoint === undefined) return undefined;
  const { blockNumber, blockHash, blockTime, fromBlock } = checkpoint;
  // Tables change with the first block of the index, when history grows backwards.
  return { block: blockNumber, hash: blockHash, time: blockTime, version: String(fromBlock) };
}
