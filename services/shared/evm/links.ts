import type { BlockHeader } from "./port.ts";

/** The blocks asked for no longer fit together or to what is indexed: a reorg, or a node in the middle of one. */
export class ChainMoved extends Error {
  override readonly name = "ChainMoved";
}

/** What ties a block to the one before it. */
export type BlockLink = Pick<BlockHeader, "number" | "hash" | "parentHash">;

/** Throws ChainMoved unless each block follows on the one before it, the first on `parentHash`. */
export function checkLinks(list: readonly BlockLink[], parentHash: string): void {
  let parent = parentHash;
  for (const block of list) {
    if (block.parentHash !== parent) {
      throw new ChainMoved(`Block ${block.number} follows on ${block.parentHash}, not on ${parent}.`);
    }
    parent = block.hash;
  }
}
