import fc from "fast-check";
import { openStore } from "../../shared/storage/open.ts";
import type { DecodedBlock } from "../ingest/indexer-block.ts";
import { type CheckpointRow, COLLECTIONS } from "../store/collections.ts";
import { MEME, randomBlocks } from "./random-chain.ts";
import { Reference } from "./reference.ts";
import { TestIndex } from "./test-index.ts";

/** Some two hours of blocks, the same each time, the last of them at `endTime` (Unix seconds). */
export function sampleBlocks(of: { endTime: number; blocks: number }): DecodedBlock[] {
  const { blocks: length, endTime } = of;
  const pause = fc.oneof(fc.constantFrom(0, 1, 2), fc.nat(120));
  const blocks = fc.sample(randomBlocks({ name: "sample", pause, minLength: length, maxLength: length }), {
    numRuns: 1,
    seed: 5,
  })[0] as DecodedBlock[];
  const shift = endTime - (blocks.at(-1)?.time ?? 0);
  return blocks.map((block) => ({ ...block, time: block.time + shift }));
}

/** Fills the service's store in a folder with sample blocks, described tokens and counted stretches. */
export async function fillStore(of: {
  dataDir: string;
  endTime: number;
  blocks: number;
}): Promise<{ checkpoint: CheckpointRow; reference: Reference }> {
  const store = await openStore({ service: "solana", dataDir: of.dataDir });
  try {
    await store.declare(COLLECTIONS);
    const blocks = sampleBlocks(of);
    const first = blocks[0] as DecodedBlock;
    const index = await TestIndex.open(store, { slot: first.slot, time: first.time });
    const half = blocks.length >> 1;
    await index.apply(blocks.slice(0, half));
    const authorities = { mintAuthority: null, freezeAuthority: null };
    const extensions = { transferFeeBps: 0, nonTransferable: false, mutableMetadata: false };
    const readSlot = index.checkpoint.slot;
    await index.indexer.tokens.describe(
      new Map([
        [
          MEME,
          {
            ...{ symbol: "MEME", name: "Meme coin", decimals: 6, supply: 10n ** 15n, isToken2022: false },
            ...{ ...authorities, ...extensions, readSlot },
          },
        ],
      ]),
    );
    await index.apply(blocks.slice(half));
    await index.countStretches(16);
    return { checkpoint: index.checkpoint, reference: new Reference(index.blocks) };
  } finally {
    await store.close();
  }
}
