import type { Finality, Knowledge } from "../../evm/finality/finality.ts";
import { findCommonBlock } from "../../evm/finality/fork.ts";
import type { BlockHeader, EvmSource, StoredBlock } from "../../evm/port.ts";
import type { Store } from "../../storage/port.ts";
import { type EvmCheckpoint, indexedBlock } from "./checkpoint.ts";
import { headers } from "./headers.ts";

/** A lower head on another branch is a reorg once it was seen this often in a row: the node may only be behind. */
const LOWER_HEADS = 5;

/** The block of the last stored row between two blocks, inclusive. */
export type FindLastRow = (range: { low: number; high: number }) => Promise<StoredBlock | undefined>;

/** What endpoints must agree with. */
export function knowledgeOf(
  { genesisHash }: Pick<EvmCheckpoint, "genesisHash">,
  findLastRow: FindLastRow,
): Knowledge {
  return { genesisHash, findKnown: (high) => findLastRow({ low: 0, high }) };
}

/** Finds where an index and its chain part. */
export class ForkFinder {
  readonly #store: Store;
  readonly #source: Pick<EvmSource, "headers" | "recheck">;
  readonly #finality: Pick<Finality, "block" | "hold">;
  readonly #findLastRow: FindLastRow;
  #lowerHeads = 0;

  constructor(
    { store, source }: { store: Store; source: Pick<EvmSource, "headers" | "recheck"> },
    { finality, findLastRow }: { finality: Pick<Finality, "block" | "hold">; findLastRow: FindLastRow },
  ) {
    this.#store = store;
    this.#source = source;
    this.#finality = finality;
    this.#findLastRow = findLastRow;
  }

  /**
   * The last block that index and chain have in common: by the kept headers, and where the fork lies deeper, by the
   * block hashes of stored rows; at the least the index's final block. Undefined where the endpoints are behind that.
   * Throws ReorgDetected where they contradict it.
   */
  async find(checkpoint: EvmCheckpoint): Promise<StoredBlock | undefined> {
    const { chainId, blockNumber } = checkpoint;
    // On MongoDB an interrupted write may have left headers above the checkpoint.
    const kept = await this.#store.find(headers, { filter: { chainId, number: { lt: blockNumber } } });
    return findCommonBlock(this.#source, {
      final: this.#finality.block,
      known: [indexedBlock(checkpoint), ...kept],
      lastRow: this.#findLastRow,
    });
  }

  /** As find, before the index goes back: all endpoints are checked again, and no block becomes final meanwhile. */
  async findBeforeRollback(checkpoint: EvmCheckpoint): Promise<StoredBlock | undefined> {
    await this.#source.recheck();
    await this.#finality.hold();
    return this.find(checkpoint);
  }

  /**
   * Whether a head below the checkpoint is a reorg, by several looks. A node whose head is on the index's branch, or
   * that is below the final block, is only behind.
   */
  async isReorg(head: Pick<BlockHeader, "number">, checkpoint: EvmCheckpoint): Promise<boolean> {
    const fork = await this.find(checkpoint);
    const isBehind = fork === undefined || fork.number >= head.number;
    this.#lowerHeads = isBehind ? 0 : this.#lowerHeads + 1;
    return this.#lowerHeads >= LOWER_HEADS;
  }

  /** A head at the checkpoint or above was seen. */
  resetLowerHeads(): void {
    this.#lowerHeads = 0;
  }
}
