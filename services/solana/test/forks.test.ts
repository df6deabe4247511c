import { expect } from "chai";
import fc from "fast-check";
import { it } from "mocha";
import type { Store, WriteStep } from "../../shared/storage/port.ts";
import { describeWithChain, randomRuns } from "../../shared/testkit/describe.ts";
import {
  ohlcvToken,
  poolTransactions,
  tokenHolders,
  tokenMintBurnTransactions,
  tokenTransactions,
} from "../contract.ts";
import { createHandlers } from "../handlers.ts";
import type { TimedBlock } from "../ingest/timed-block.ts";
import { createDeps } from "../serve/deps.ts";
import { type EndpointResult, type Query, queryEndpoint } from "./ask.ts";
import { FIRST_TIME, MEME, MINTS, POOLS, randomBlocks } from "./random-chain.ts";
import { Reference } from "./reference.ts";
import { openTestStore } from "./store.ts";
import { TestIndex } from "./test-index.ts";

const pause = fc.oneof(fc.constantFrom(0, 1), fc.nat(90));
const chain = randomBlocks({ name: "main", pause, minLength: 12, maxLength: 24 });
/** Instead of the end of it; one second at least after the block it follows. */
const otherChain = randomBlocks({
  name: "other",
  pause: fc.integer({ min: 1, max: 90 }),
  minLength: 3,
  maxLength: 8,
});

interface World {
  readonly blocks: TimedBlock[];
  readonly other: TimedBlock[];
  /** Blocks that are indexed before the reading, and of those taken back in it. */
  readonly indexed: number;
  readonly dropped: number;
  readonly segmentRows: number;
  readonly isRetained: boolean;
}
const world: fc.Arbitrary<World> = fc.record({
  blocks: chain,
  other: otherChain,
  indexed: fc.integer({ min: 8, max: 12 }),
  dropped: fc.integer({ min: 0, max: 4 }),
  segmentRows: fc.integer({ min: 1, max: 4 }),
  isRetained: fc.boolean(),
});

const page = { limit: fc.integer({ min: 1, max: 30 }), offset: fc.nat(12) };

/** Every call has to wait for its turn, and so has every step of a write, as if on MongoDB, unless writes are whole. */
function takingTurns(store: Store, world: { scheduler: fc.Scheduler; writes: "whole" | "in steps" }): Store {
  const turn = (name: string) => world.scheduler.schedule(Promise.resolve(), name);
  return new Proxy(store, {
    get(target, name) {
      if (name === "write" && world.writes === "in steps") {
        return async (steps: readonly WriteStep[]) => {
          for (const step of steps) {
            await turn(`${step.kind} ${step.collection.name}`);
            await target.write([step]);
          }
        };
      }
      // Asks nobody: its reads do.
      if (name === "within") return (signal: AbortSignal) => takingTurns(target.within(signal), world);
      const value = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return async (...given: unknown[]) => {
        await turn(String(name));
        return value.apply(target, given);
      };
    },
  });
}

/** Reads while the ingest rolls blocks back, drops old rows and stores other blocks; all that it wrote is known by its head. */
async function readAmidst(
  world: World,
  at: {
    scheduler: fc.Scheduler;
    writes: "whole" | "in steps";
    read: (store: Store) => Promise<EndpointResult>;
    check: (result: EndpointResult, reference: Reference) => void;
  },
): Promise<void> {
  const store = await openTestStore();
  try {
    const index = await TestIndex.open(store);
    const states = new Map<string, Reference>();
    const note = (): void => {
      const { blockhash, rowsFromSlot, fromSlot } = index.checkpoint;
      const reference = new Reference(index.blocks, { rowsFromSlot });
      states.set(`${blockhash} ${rowsFromSlot}`, reference);
      // What derives from documents shows how far the index reaches back, and does not change as old rows go.
      const derived = `${blockhash} ${fromSlot}`;
      if (!states.has(derived)) states.set(derived, reference);
    };
    const indexed = world.blocks.slice(0, world.indexed);
    for (const block of indexed) await index.apply([block], { finalLag: world.dropped * 3 + 1 });
    await index.countSegments(world.segmentRows);
    note();
    index.store = takingTurns(store, at);
    const reading = at.read(takingTurns(store, at));
    const writing = changeIndex(index, { world, note });
    const [result] = await at.scheduler.waitFor(Promise.all([reading, writing]));
    const head = `${result.version?.blockHash} ${result.version?.fromBlock}`;
    const reference = states.get(head);
    expect(reference, `a head that was: ${head}`).not.to.equal(undefined);
    at.check(result, reference as Reference);
  } finally {
    await store.close();
  }
}

async function changeIndex(
  index: TestIndex,
  { world, note }: { world: World; note: () => void },
): Promise<void> {
  const last = world.blocks[world.indexed - 1 - world.dropped] as TimedBlock;
  if (world.isRetained) {
    await index.dropRowsBefore(world.blocks[1] as TimedBlock);
    note();
  }
  if (world.dropped === 0) {
    await index.apply(world.blocks.slice(world.indexed, world.indexed + 2));
    note();
    return;
  }
  await index.fork(last.slot);
  note();
  const replacement = world.other.flatMap((block, i) => {
    const slot = last.slot + 1 + i;
    const time = last.time + (block.time - FIRST_TIME) + 1;
    return [{ ...block, slot, parentSlot: slot - 1, time }];
  });
  await index.apply(replacement);
  note();
}

describeWithChain("answers while the index changes", () => {
  const RUNS = { numRuns: randomRuns(60), interruptAfterTimeLimit: 60_000 };

  for (const writes of ["whole", "in steps"] as const) {
    it(`lists of a token, and its mints and burns, are those of one head; writes ${writes}`, async () => {
      const question = fc.record({ mint: fc.constantFrom(...MINTS), ...page, isSupply: fc.boolean() });
      await fc.assert(
        fc.asyncProperty(
          fc.scheduler(),
          world,
          question,
          async (scheduler, world, { isSupply, mint, ...one }) => {
            const within = { after_time: 0, before_time: FIRST_TIME * 2 };
            const query = { token_address: mint, ...one, ...within };
            const endpoint = isSupply ? tokenMintBurnTransactions : tokenTransactions;
            const sent: Query = isSupply ? query : { ...query, days: 1 };
            await readAmidst(world, {
              scheduler,
              writes,
              read: (store) => queryEndpoint(createHandlers(createDeps(store)), { endpoint, query: sent }),
              check: ({ rows }, reference) =>
                expect(rows).to.deep.equal(
                  isSupply ? reference.mintsAndBurns(query, []) : reference.tokenTransactions(query),
                ),
            });
          },
        ),
        RUNS,
      );
    });
  }

  it("lists of a pool, candles and holders are those of one head", async () => {
    const kinds = ["pool", "candles", "holders"] as const;
    const question = fc.record({ kind: fc.constantFrom(...kinds), ...page });
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), world, question, async (scheduler, world, { kind, ...one }) => {
        const within = { after_time: FIRST_TIME - 600, before_time: FIRST_TIME + 6_000 };
        const pool_address = POOLS[0]?.address as string;
        const queries = {
          pool: { endpoint: poolTransactions, query: { pool_address, days: 3_650, ...one } },
          candles: { endpoint: ohlcvToken, query: { token_address: MINTS[1], interval: "1m", ...within } },
          holders: { endpoint: tokenHolders, query: { token_address: MEME, ...one } },
        };
        await readAmidst(world, {
          scheduler,
          writes: "whole",
          read: (store) => queryEndpoint(createHandlers(createDeps(store)), queries[kind]),
          check({ rows }, reference) {
            if (kind === "pool") expect(rows).to.deep.equal(reference.poolTransactions(queries.pool.query));
            const trades = reference.trades.filter(
              ({ mint, time }) => mint === MINTS[1] && time >= FIRST_TIME + 40,
            );
            if (kind === "candles") {
              expect(rows.reduce((sum, row) => sum + (row[8] as number), 0)).to.equal(trades.length);
              expect(rows.at(-1)?.[3]).to.equal(trades.at(-1)?.priceUsd);
            }
            if (kind === "holders")
              expect(rows.map(([account, raw]) => [account, raw])).to.deep.equal(
                reference
                  .holders(MEME)
                  .slice(one.offset, one.offset + one.limit)
                  .map(([account, raw]) => [account, Number(raw)]),
              );
          },
        });
      }),
      RUNS,
    );
  });
});
