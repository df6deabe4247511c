import fc from "fast-check";
import type { HandlerTable } from "../../shared/service/handlers.ts";
import { randomRuns } from "../../shared/testkit/describe.ts";
import { createHandlers } from "../handlers.ts";
import type { TokenDescription } from "../ingest/state/token-state.ts";
import type { TimedBlock } from "../ingest/timed-block.ts";
import { createDeps } from "../serve/deps.ts";
import { refuseScans } from "./planned-store.ts";
import { deriveAddress, FIRST_SLOT, MEME, randomBlocks } from "./random-chain.ts";
import { Reference } from "./reference.ts";
import { openTestStore } from "./store.ts";
import { TestIndex } from "./test-index.ts";

export const DAY = 86_400;
export const RUNS = { numRuns: randomRuns(30), interruptAfterTimeLimit: 60_000 };
export const percent = fc.nat(100).map((found) => found / 100);

/** Minutes and hours, or months. */
export const pause = fc.oneof(fc.nat(2), fc.nat(90), fc.nat(5_000), fc.nat(20_000));
const [near, far] = [pause, fc.oneof(pause, fc.nat(3 * DAY), fc.nat(2 * DAY))].map((each) =>
  randomBlocks({ name: "main", pause: each, minLength: 5, maxLength: 60 }),
);
const chain = fc.oneof(near as fc.Arbitrary<TimedBlock[]>, far as fc.Arbitrary<TimedBlock[]>);

export const description: fc.Arbitrary<TokenDescription> = fc.record({
  symbol: fc.constantFrom("MEME", "$x", ""),
  name: fc.constantFrom("Meme coin", ""),
  decimals: fc.constant(6),
  supply: fc.option(fc.constantFrom(0n, 10n ** 9n, 10n ** 12n, 2n ** 64n - 1n), { freq: 8 }),
  mintAuthority: fc.option(fc.constant(deriveAddress("authority"))),
  freezeAuthority: fc.option(fc.constant(deriveAddress("authority"))),
  isToken2022: fc.boolean(),
  extensions: fc.option(
    fc.record(
      {
        transferFee: fc.constantFrom(
          { olderBps: 0, newerBps: 50, newerEpoch: 0 },
          { olderBps: 25, newerBps: 50, newerEpoch: 10 ** 9 },
        ),
        nonTransferable: fc.constant(true as const),
        permanentDelegate: fc.constant(deriveAddress("delegate")),
        scaledAmount: fc.constant({ older: 1, newer: 2.5, newerTime: 0 }),
      },
      { requiredKeys: [] },
    ),
    { freq: 8 },
  ),
  mutableMetadata: fc.option(fc.boolean(), { freq: 8 }),
  readSlot: fc.constant(FIRST_SLOT),
});

export interface World {
  readonly blocks: TimedBlock[];
  readonly size: number;
  /** What the accounts of MEME's mint contain, if they are ever read. */
  readonly described: TokenDescription | null;
  /** Whether the index begins with the chain. */
  readonly isWhole: boolean;
}
export const world: fc.Arbitrary<World> = fc.record({
  blocks: chain,
  size: fc.integer({ min: 1, max: 20 }),
  described: fc.option(description, { freq: 3 }),
  isWhole: fc.boolean(),
});

export interface Indexed {
  readonly handlers: HandlerTable;
  readonly reference: Reference;
  readonly index: TestIndex;
}

export async function withIndexedWorld(world: World, look: (at: Indexed) => Promise<void>): Promise<void> {
  const store = await openTestStore();
  try {
    // As of slot 0 nothing was before the index.
    const index = await TestIndex.open(
      store,
      world.isWhole ? { slot: 0, time: world.blocks[0]?.time ?? 0 } : undefined,
    );
    for (let at = 0; at < world.blocks.length; at += world.size) {
      const part = world.blocks.slice(at, at + world.size);
      // A token is described once it was met.
      const isMet = at > 0 && at <= world.size;
      if (isMet && world.described !== null) {
        const readSlot = (part[0]?.slot ?? 0) - 1;
        await index.indexer.tokens.describe(new Map([[MEME, { ...world.described, readSlot }]]));
      }
      await index.apply(part);
    }
    const handlers = createHandlers(createDeps(refuseScans(store)));
    await look({ handlers, index, reference: new Reference(index.blocks) });
  } finally {
    await store.close();
  }
}
