import { ReorgDetected } from "../chain-errors.ts";
import type { BlockHeader } from "./port.ts";

/** Links a block to its parent. */
export type BlockLink = Pick<BlockHeader, "number" | "hash" | "parentHash">;

/** Throws ReorgDetected unless each block follows on the one before it, the first on `parentHash`. */
export function checkLinks(list: readonly BlockLink[], parentHash: string): void {
  let parent = parentHash;
  for (const block of list) {
    if (block.parentHash !== parent) {
      throw new ReorgDetected(`Block ${block.number} follows on ${block.parentHash}, not on ${parent}.`);
    }
    parent = block.hash;
  }
}
