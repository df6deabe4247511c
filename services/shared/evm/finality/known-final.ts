import type { Store } from "../../storage/port.ts";
import { finalBlocks } from "./finality.ts";

/** The ingest asks for finality every 32 blocks: reading it more often shows nothing new. */
const READ_EVERY_MS = 2_000;

/** Number of the last final block of a chain's index; undefined before the ingest knows one. */
export async function readFinalBlock(store: Store, chainId: number): Promise<number | undefined> {
  return (await store.get(finalBlocks, { chainId }))?.number;
}

/**
 * The final blocks as last read, for a status that must not wait for the store: asking begins the next read, and gives what
 * the last one said.
 */
export class KnownFinalBlocks {
  readonly #store: Store;
  readonly #now: () => number;
  readonly #known = new Map<number, number>();
  readonly #startedMs = new Map<number, number>();
  readonly #reads = new Set<Promise<void>>();

  constructor(store: Store, chainIds: readonly number[], now: () => number = () => performance.now()) {
    this.#store = store;
    this.#now = now;
    for (const chainId of chainIds) this.#read(chainId);
  }

  last(chainId: number): number | undefined {
    const startedMs = this.#startedMs.get(chainId) ?? Number.NEGATIVE_INFINITY;
    if (this.#now() - startedMs >= READ_EVERY_MS) this.#read(chainId);
    return this.#known.get(chainId);
  }

  /** Resolves when no read is under way. */
  async close(): Promise<void> {
    await Promise.all(this.#reads);
  }

  #read(chainId: number): void {
    this.#startedMs.set(chainId, this.#now());
    const read = readFinalBlock(this.#store, chainId)
      .then((block) => {
        if (block === undefined) this.#known.delete(chainId);
        else this.#known.set(chainId, block);
      })
      // What is final stays final while the store is away.
      .catch(() => {})
      .finally(() => this.#reads.delete(read));
    this.#reads.add(read);
  }
}
