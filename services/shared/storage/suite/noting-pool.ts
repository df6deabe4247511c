import { BlockPool } from "../sqlite/packed/blocks.ts";

/** Notes the blocks that were taken from it. */
export class NotingPool extends BlockPool {
  /** Each once. */
  readonly taken = new Set<Uint8Array>();

  override take(leastBytes: number): Uint8Array {
    const block = super.take(leastBytes);
    this.taken.add(block);
    return block;
  }
}
