import type { Finality, IndexIdentity } from "../../evm/finality/finality.ts";
import { findCommonBlock } from "../../evm/finality/fork.ts";
import type { BlockHeader, EvmSource, StoredBlock } from "../../evm/port.ts";
import type { Store } from "../../storage/port.ts";
import { type EvmCheckpoint, indexedBlock } from "./checkpoint.ts";
import { headers } from "./headers.ts";

/** A lower head on another branch is a reorg once it was seen this often in a row: the node may only be behind. */
const LOWER_HEADS = 5;

/** The block of the last stored row of a chain between two blocks, inclusive. */
export type FindLastRow = (
  store: Store,
  range: { chainId: number; low: number; high: number },
) => Promise<StoredBlock | undefined>;

type ForkSource = Pick<EvmSource, "headers" | "recheck">;

/** What endpoints must agree with. */
export function indexIdentityOf(
  store: Store,
  { chainId, genesisHash }: Pick<EvmCheckpoint, "chainId" | "genesisHash">,
  findLastRow: FindLastRow,
): IndexIdentity {
  return { genesisHash, findKnown: (high) => findLastRow(store, { chainId, low: 0, high }) };
}

/**
 * The last block that index and chain have in common: by the kept headers, and where the fork lies deeper, by the block
 * hashes of stored rows; at the least the index's final block. Undefined where the endpoints are behind that. Throws
 * ReorgDetected where they contradict it.
 */
export async function findFork(
  store: Store,
  context: {
    source: Pick<ForkSource, "headers">;
    checkpoint: EvmCheckpoint;
    final: StoredBlock;
    findLastRow: FindLastRow;
  },
): Promise<StoredBlock | undefined> {
  const { source, checkpoint, final, findLastRow } = context;
  const { chainId, blockNumber } = checkpoint;
  // On MongoDB an interrupted write may have left headers above the checkpoint.
  const kept = await store.find(headers, { filter: { chainId, number: { lt: blockNumber } } });
  return findCommonBlock(source, {
    final,
    known: [indexedBlock(checkpoint), ...kept],
    lastRow: (range) => findLastRow(store, { chainId, ...range }),
  });
}

export interface ForkFinderDeps {
  readonly store: Store;
  readonly source: ForkSource;
  readonly finality: Pick<Finality, "block" | "cancelUpdate">;
  readonly findLastRow: FindLastRow;
}

/** Finds where a chain leaves its index, and distinguishes a reorg from a node that is behind. */
export class ForkFinder {
  readonly #deps: ForkFinderDeps;
  #lowerHeads = 0;

  constructor(deps: ForkFinderDeps) {
    this.#deps = deps;
  }

  /** As findFork, before the index goes back: all endpoints are checked again, and no block becomes final meanwhile. */
  async find(checkpoint: EvmCheckpoint): Promise<StoredBlock | undefined> {
    const { source, finality } = this.#deps;
    await source.recheck();
    await finality.cancelUpdate();
    return this.#find(checkpoint);
  }

  /**
   * Whether a head below the checkpoint is that of a reorg: only after several looks. A node whose head is on the
   * index's branch, or that is below the final block, is behind.
   */
  async isReorg(head: Pick<BlockHeader, "number">, checkpoint: EvmCheckpoint): Promise<boolean> {
    const fork = await this.#find(checkpoint);
    const isBehind = fork === undefined || fork.number >= head.number;
    this.#lowerHeads = isBehind ? 0 : this.#lowerHeads + 1;
    return this.#lowerHeads >= LOWER_HEADS;
  }

  /** A head at the checkpoint or above it was seen: lower ones are counted anew. */
  resetLowerHeads(): void {
    this.#lowerHeads = 0;
  }

  #find(checkpoint: EvmCheckpoint): Promise<StoredBlock | undefined> {
    const { store, source, finality, findLastRow } = this.#deps;
    return findFork(store, { source, checkpoint, final: finality.block, findLastRow });
  }
}
