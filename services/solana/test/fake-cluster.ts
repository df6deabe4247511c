import type { BlockLink, ChainAnchor, Contradiction } from "../chain/port.ts";
import { fakeKey } from "../chain/testkit/fake-chain.ts";
import type { DecodedTransaction } from "../decode/model.ts";
import type { BlockReader, DecodedBlock } from "../ingest/read/decoded-block.ts";

/** A cluster that returns its blocks, and may replace those that are not final. */
export class FakeCluster {
  /** The chain as it is now, ascending. */
  readonly chain: DecodedBlock[] = [];
  #finalSlot = 0;
  #forks = 0;
  readonly #genesis: number;

  constructor(options: { genesis?: number } = {}) {
    this.#genesis = options.genesis ?? 0;
  }

  get headSlot(): number {
    return this.chain.at(-1)?.slot ?? 0;
  }

  get finalSlot(): number {
    return this.#finalSlot;
  }

  /** A block after some skipped slots. */
  produce(options: {
    skipped?: number;
    blockTime: number | null;
    transactions: readonly DecodedTransaction[];
    described?: readonly string[];
  }): DecodedBlock {
    const parent = this.chain.at(-1);
    const slot = (parent?.slot ?? 99) + 1 + (options.skipped ?? 0);
    const signed = options.transactions.map((each, i) => ({
      ...each,
      signature: `${slot}-${this.#forks}-${i}`,
    }));
    const block: DecodedBlock = {
      slot,
      blockhash: fakeKey(this.#genesis * 1_000 + this.#forks, slot),
      previousBlockhash: parent?.blockhash ?? fakeKey(this.#genesis * 1_000 + 999, 0),
      parentSlot: parent?.slot ?? slot - 1,
      blockTime: options.blockTime,
      transactions: signed,
      transactionCount: signed.length + 1,
      broken: [],
      changedMetadata: options.described ?? [],
    };
    this.chain.push(block);
    return block;
  }

  /** Makes blocks final up to so many before the head. */
  finalize(behind: number): void {
    const last = this.chain.at(-1 - behind);
    this.#finalSlot = Math.max(this.#finalSlot, last?.slot ?? 0);
  }

  /** Drops the last blocks, as many of them as are not final. */
  fork(depth: number): void {
    this.#forks += 1;
    for (let left = depth; left > 0 && this.headSlot > this.#finalSlot; left--) this.chain.pop();
  }

  /** Ranges requested so far. */
  readonly requested: { fromSlot: number; toSlot: number; commitment: string }[] = [];

  readonly reader: BlockReader = {
    blocks: async (range) => {
      this.requested.push(range);
      const { fromSlot, toSlot, commitment } = range;
      const end = commitment === "finalized" ? Math.min(toSlot, this.#finalSlot) : toSlot;
      return this.chain.filter(({ slot }) => slot >= fromSlot && slot <= end);
    },
  };

  readonly source = {
    head: async (commitment: "confirmed" | "finalized") => ({
      slot: commitment === "finalized" ? this.#finalSlot : this.headSlot,
    }),
    waitForHead: async () => {},
    firstAvailableSlot: async () => this.firstAvailable,
    link: async (slot: number, commitment: "confirmed" | "finalized"): Promise<BlockLink | undefined> => {
      const end = commitment === "finalized" ? this.#finalSlot : this.headSlot;
      return this.chain.find((block) => block.slot === slot && slot <= end);
    },
    genesisHash: async () => fakeKey(9, this.#genesis),
    setAnchor: (anchor: ChainAnchor) => {
      this.#anchor = anchor;
    },
    getAnchor: () => this.#anchor,
    recheck: async (): Promise<readonly Contradiction[]> => {
      const { final, genesisHash } = this.#anchor;
      const isOther = genesisHash !== undefined && genesisHash !== fakeKey(9, this.#genesis);
      const isPassed =
        final !== undefined && final.slot >= this.firstAvailable && final.slot <= this.#finalSlot;
      const block = this.chain.find(({ slot }) => slot === final?.slot);
      if (!isOther && (!isPassed || block?.blockhash === final.blockhash)) return [];
      return [{ host: "fake.test", reason: "another cluster" }];
    },
  };

  #anchor: ChainAnchor = {};

  firstAvailable = 0;
}
