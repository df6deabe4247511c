import { type BlockId, type PortalBlocks, readBlock } from "./block.ts";

export interface HeadPair {
  readonly head: BlockId | undefined;
  readonly finalized: BlockId | undefined;
}

/** The two heads of a dataset: that of the source, and the finalized one, which lags and never goes back. */
export class Heads {
  #blocks: PortalBlocks;
  readonly #lag: number;
  #highest: BlockId | undefined;

  constructor(blocks: PortalBlocks, { lag }: { lag: number }) {
    this.#blocks = blocks;
    this.#lag = lag;
  }

  get blocks(): PortalBlocks {
    return this.#blocks;
  }

  serve(blocks: PortalBlocks): void {
    this.#blocks = blocks;
  }

  async read(): Promise<HeadPair> {
    const head = await this.#blocks.head();
    const own = this.#blocks.finalized === undefined ? head : await this.#blocks.finalized();
    if (head === undefined || own === undefined) return { head, finalized: undefined };
    const number = own.number - this.#lag;
    if (number > (this.#highest?.number ?? -1)) {
      const block = this.#lag === 0 ? { header: own } : await readBlock(this.#blocks, number);
      if (block !== undefined) this.#highest = { number, hash: block.header.hash };
    }
    return { head, finalized: this.#highest };
  }
}
