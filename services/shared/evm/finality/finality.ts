import { collection } from "../../storage/collection.ts";
import type { Guard } from "../../storage/lease.ts";
import { put, type Store } from "../../storage/port.ts";
import type { EvmSource, FinalBlock, FindKnownBlock, StoredBlock } from "../port.ts";

/** The last final block of each chain's index. It only moves up; nothing up to it is undone. */
export const finalBlocks = collection({
  name: "final_blocks",
  fields: {
    chainId: "int",
    number: "int",
    hash: "text",
    /** Unix seconds. */
    time: "int",
  },
  key: ["chainId"],
  indexes: [],
  shardKey: ["chainId"],
});

/** Blocks indexed between two requests for the final block. */
const CHECK_EVERY_BLOCKS = 32;
/** A backfill indexes thousands of blocks a second: there, time limits the requests. */
const CHECK_EVERY_MS = 10_000;

interface FinalityDeps {
  readonly store: Store;
  readonly source: EvmSource;
  readonly guard: Guard;
}

/** How an index identifies its chain. */
export interface IndexIdentity {
  readonly genesisHash: string;
  readonly findKnown: FindKnownBlock;
}

/** Sets endpoints aside, from here on, that contradict the stored final block. */
export async function requireStoredFinal(
  { store, source }: Pick<FinalityDeps, "store" | "source">,
  { genesisHash, findKnown }: IndexIdentity,
): Promise<FinalBlock> {
  const row = await store.get(finalBlocks, { chainId: source.chainId });
  const { number, hash, time } = row ?? { number: 0, hash: genesisHash, time: 0 };
  const block = { number, hash, time, genesisHash };
  source.requireFinal(block, findKnown);
  return block;
}

/**
 * The final block of one chain's index: stored, and compared with every endpoint (see EvmSource.requireFinal). It
 * moves up beside the indexing, which does not wait for it. Block 0 is final from the start.
 */
export class Finality {
  readonly #deps: FinalityDeps;
  #block: FinalBlock;
  /** The block of the last request for finality, and its time. */
  #checkedNumber: number;
  #checkedAtMs = Number.NEGATIVE_INFINITY;
  /** Grows with each rollback, which makes pending responses obsolete. */
  #generation = 0;
  #update: Promise<void> | undefined;
  #write: Promise<void> = Promise.resolve();

  private constructor(deps: FinalityDeps, block: FinalBlock) {
    this.#deps = deps;
    this.#block = block;
    this.#checkedNumber = block.number;
  }

  static async open(deps: FinalityDeps, knowledge: IndexIdentity): Promise<Finality> {
    return new Finality(deps, await requireStoredFinal(deps, knowledge));
  }

  get block(): FinalBlock {
    return this.#block;
  }

  /** Called with the index's last block after each write. */
  follow(tip: StoredBlock, { isHead }: { isHead: boolean }): void {
    const isDue = isHead || performance.now() - this.#checkedAtMs > CHECK_EVERY_MS;
    if (this.#update !== undefined || !isDue || tip.number - this.#checkedNumber < CHECK_EVERY_BLOCKS) return;
    this.#checkedNumber = tip.number;
    this.#checkedAtMs = performance.now();
    // If no endpoint responds, the final block stays; later blocks request it again.
    this.#update = this.#moveUp(tip)
      .catch(() => {})
      .finally(() => {
        this.#update = undefined;
      });
  }

  /** Call before a rollback: no block that it removes may become final meanwhile. */
  async cancelUpdate(): Promise<void> {
    this.#generation += 1;
    this.#checkedNumber = this.#block.number;
    await this.#write;
  }

  /** Resolves when no update is pending. */
  async settled(): Promise<void> {
    await this.#update;
  }

  async #moveUp(tip: StoredBlock): Promise<void> {
    const { store, source, guard } = this.#deps;
    const era = this.#generation;
    const found = await source.finalBlock(tip);
    if (found === null || found.number <= this.#block.number || era !== this.#generation) return;
    const { number, hash, time } = found;
    const block = { number, hash, time, genesisHash: this.#block.genesisHash };
    const row = { chainId: source.chainId, number, hash, time };
    const written = store.write([...guard(), put(finalBlocks, [row])]).then(() => {
      this.#block = block;
    });
    this.#write = written.catch(() => {});
    await written;
    source.requireFinal(block);
  }
}
