import fc from "fast-check";
import { openStore } from "../../shared/storage/open.ts";
import type { Store } from "../../shared/storage/port.ts";
import type { TokenDescription } from "../ingest/state/token-state.ts";
import type { TimedBlock } from "../ingest/timed-block.ts";
import { type CheckpointRow, COLLECTIONS } from "../store/collections.ts";
import { MEME, randomBlocks } from "./random-chain.ts";
import { Reference } from "./reference.ts";
import { TestIndex } from "./test-index.ts";

/** Some two hours of blocks, the same each time, the last of them at `endTime` (Unix seconds). */
export function sampleBlocks(sample: { endTime: number; blocks: number }): TimedBlock[] {
  const { blocks: length, endTime } = sample;
  const pause = fc.oneof(fc.constantFrom(0, 1, 2), fc.nat(120));
  const blocks = fc.sample(randomBlocks({ name: "sample", pause, minLength: length, maxLength: length }), {
    numRuns: 1,
    seed: 5,
  })[0] as TimedBlock[];
  const shift = endTime - (blocks.at(-1)?.time ?? 0);
  return blocks.map((block) => ({ ...block, time: block.time + shift }));
}

interface Sample {
  readonly endTime: number;
  readonly blocks: number;
}

interface Filled {
  readonly checkpoint: CheckpointRow;
  readonly reference: Reference;
}

/** Fills the service's store in a folder, or on MongoDB. */
export async function fillFolder({
  dataDir,
  mongodbUrl,
  ...sample
}: Sample & { dataDir: string; mongodbUrl?: string | undefined }): Promise<Filled> {
  const store = await openStore({
    service: "solana",
    dataDir,
    ...(mongodbUrl !== undefined && { mongodbUrl }),
  });
  try {
    return await fillStore(store, sample);
  } finally {
    await store.close();
  }
}

/** Fills an empty store with sample blocks, a token that is described in their middle, and counted segments. */
export async function fillStore(store: Store, sample: Sample): Promise<Filled> {
  await store.declare(COLLECTIONS);
  const blocks = sampleBlocks(sample);
  const first = blocks[0] as TimedBlock;
  const index = await TestIndex.open(store, { slot: first.slot, time: first.time });
  const half = blocks.length >> 1;
  await index.apply(blocks.slice(0, half));
  const description: TokenDescription = {
    ...{ symbol: "MEME", name: "Meme coin", decimals: 6, supply: 10n ** 15n, isToken2022: false },
    ...{ mintAuthority: null, freezeAuthority: null, extensions: {} },
    ...{ mutableMetadata: false, readSlot: index.checkpoint.slot },
  };
  await index.indexer.tokens.describe(new Map([[MEME, description]]));
  await index.apply(blocks.slice(half));
  await index.countSegments(16);
  return { checkpoint: index.checkpoint, reference: new Reference(index.blocks) };
}
