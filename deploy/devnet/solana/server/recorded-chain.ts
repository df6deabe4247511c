import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { deriveAddress } from "../chain/addresses.ts";
import { BlockBuffer, chainOfShelf, type NodeChain, toNodeBlock } from "./node-chain.ts";

/** Blocks by slot, as getBlock gave them, behind the interface of a node that has come to the last of them. */
export function chainOfBlocks(blocks: ReadonlyMap<number, Record<string, unknown>>, lag = 0): NodeChain {
  const shelf = new BlockBuffer(lag);
  for (const slot of [...blocks.keys()].sort((a, b) => a - b))
    shelf.add(toNodeBlock(slot, blocks.get(slot) as Record<string, unknown>));
  return chainOfShelf(shelf, deriveAddress("recorded"));
}

/**
 * A folder of blocks: a file <slot>.json each, getBlock's result or the whole answer with it. Throws where a file is
 * no block.
 */
export function readRecordedBlocks(folder: string): Map<number, Record<string, unknown>> {
  const blocks = new Map<number, Record<string, unknown>>();
  for (const file of readdirSync(folder)) {
    const slot = /^(\d+)\.json$/.exec(file)?.[1];
    if (slot === undefined) continue;
    const read = JSON.parse(readFileSync(join(folder, file), "utf8"));
    const block = read.result ?? read;
    if (typeof block?.blockhash !== "string" || !Array.isArray(block.transactions))
      throw new Error(`Cannot use ${file}: it is no answer of getBlock`);
    blocks.set(Number(slot), block);
  }
  return blocks;
}
