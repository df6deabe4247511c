import { expect } from "chai";
import fc from "fast-check";
import { it } from "mocha";
import type { Store } from "../../../shared/storage/port.ts";
import { describeLong, leastCases, randomRuns } from "../../../shared/testkit/describe.ts";
import { expectSame } from "../../../shared/testkit/expect-same.ts";
import { type CheckpointRow, COLLECTIONS, priceLinks } from "../../store/collections.ts";
import { getCheckpoint } from "../../store/queries.ts";
import { CHAIN_ID, openTestStore } from "../../test/kit/rows.ts";
import {
  ANCHORS,
  type BlockPlan,
  blockPlans,
  growChain,
  indexBlocks,
  NEAR_ROOTS,
  openIndexer,
  POOLS,
  type SmallBlock,
  startCheckpoint,
} from "../../test/kit/small-chain.ts";
import type { Indexer } from "../state/indexer.ts";
import { healIndexer, readUndone } from "./heal.ts";
import { rollbackTo } from "./rollback.ts";

const guard = () => [];

const seen = { forks: 0, followed: 0 };

async function dump(store: Store): Promise<Record<string, unknown[]>> {
  const all: Record<string, unknown[]> = {};
  for (const collection of COLLECTIONS) {
    const rows = await store.find(collection, {});
    all[collection.name] =
      collection.name === "checkpoints" ? rows.map((row) => ({ ...row, chainHead: 0 })) : rows;
  }
  return all;
}

async function dumpFresh(chain: readonly SmallBlock[]): Promise<Record<string, unknown[]>> {
  const store = await openTestStore();
  await indexBlocks(store, { chain, checkpoint: startCheckpoint() });
  const all = await dump(store);
  await store.close();
  return all;
}

/** Rolls the store back to the last kept block, and the indexer with it. */
async function goBack(
  store: Store,
  { indexer, kept }: { indexer: Indexer; kept: readonly SmallBlock[] },
): Promise<CheckpointRow> {
  const { number, hash, time } = (kept.at(-1) as SmallBlock).block;
  const undone = await readUndone(store, { indexer, target: number });
  const checkpoint = (await getCheckpoint(store, CHAIN_ID)) as CheckpointRow;
  const target = { number, hash, time };
  await rollbackTo(store, { checkpoint, target, guard, observed: undone.changed });
  await healIndexer(store, { indexer, anchors: ANCHORS, target: number, undone });
  return (await getCheckpoint(store, CHAIN_ID)) as CheckpointRow;
}

/** What becomes of a chain and its index: at first, and after one fork after another. */
interface Story {
  readonly plan: readonly BlockPlan[];
  readonly keep: number;
  readonly others: readonly { readonly plan: readonly BlockPlan[]; readonly undo: number }[];
  readonly batch: number;
}

async function expectSameOverForks(
  { plan, keep, others, batch }: Story,
  grow: { roots?: readonly bigint[] } = {},
): Promise<void> {
  const store = await openTestStore();
  const indexer = await openIndexer(store);
  let chain = growChain(plan, grow);
  let kept = chain.slice(0, Math.min(keep, chain.length));
  await indexBlocks(store, { chain, checkpoint: startCheckpoint(), batch, indexer });
  for (const [branch, { plan: next, undo }] of others.entries()) {
    const checkpoint = await goBack(store, { indexer, kept });
    const loaded = await openIndexer(store);
    expectSame(pricesOf(indexer), pricesOf(loaded));
    expect(indexer.pools.size).to.equal(loaded.pools.size);
    chain = growChain(next, { ...grow, after: kept, branch: branch + 1 });
    await indexBlocks(store, { chain, checkpoint, batch, indexer });
    const [actual, expected] = [await dump(store), await dumpFresh(chain)];
    for (const [name, rows] of Object.entries(expected)) expectSame(actual[name], rows, name);
    kept = chain.slice(0, Math.max(1, chain.length - undo));
    seen.forks += 1;
    seen.followed += await store.count(priceLinks, { agreedUsd: { gt: 0 } });
  }
  await store.close();
}

function pricesOf(indexer: Indexer): unknown {
  const { graph } = indexer.prices;
  const tokens = graph.tokens().sort();
  return {
    tokens: tokens.map((token) => [token, graph.price(token), graph.link(token)]),
    edges: POOLS.map((pool) => graph.edge(pool)).filter((edge) => edge !== undefined && edge.depth0 > 0),
  };
}

const storyOf = (...options: Parameters<typeof blockPlans>): fc.Arbitrary<Story> =>
  fc.record({
    plan: blockPlans(...options),
    keep: fc.integer({ min: 1, max: options[0] - 1 }),
    others: fc.array(fc.record({ plan: blockPlans(6, options[1]), undo: fc.integer({ min: 1, max: 5 }) }), {
      minLength: 1,
      maxLength: 3,
    }),
    batch: fc.integer({ min: 1, max: 5 }),
  });
const story = storyOf(14);

/** Prices that are held, and followed, within the same five minutes and beyond. */
const steps = storyOf(30, { least: 6, gaps: [2, 12, 40, 61, 110, 240] });

const nothing = (seconds: number) => ({ seconds, events: [] });
const one = (pool: number, kind: number) => ({ seconds: 2, events: [{ pool, kind, user: 0, size: 1 }] });
/** After the fork a minute passes, and a pool is followed that leaves the other at its price. */
const FOLLOWED: Story = {
  plan: [one(4, 7), nothing(2), nothing(2), one(0, 0), nothing(2), nothing(2), nothing(2)],
  keep: 4,
  others: [{ plan: [nothing(61), one(0, 0)], undo: 1 }],
  batch: 2,
};

/** Several blocks are within the five minutes that prices rest on, and the first ones before them. */
const denseStory = fc.record({
  plan: blockPlans(18, { least: 12, gaps: [0, 2, 40, 59, 61, 110] }),
  undo: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 2 }),
});

describeLong("healIndexer", () => {
  it("goes on as an indexer loaded after the rollback does, over one fork after another", async () => {
    seen.forks = 0;
    await fc.assert(
      fc.asyncProperty(story, (each) => expectSameOverForks(each)),
      { numRuns: randomRuns(40) },
    );
    expect(seen.forks).to.be.at.least(leastCases(60));
  });

  it("goes on where pools have left others in steps", async () => {
    seen.followed = 0;
    await fc.assert(
      fc.asyncProperty(steps, (each) => expectSameOverForks(each, { roots: NEAR_ROOTS })),
      // Few of them are followed: of ten none, one time in thirty.
      { numRuns: randomRuns(120, 10), examples: [[FOLLOWED]] },
    );
    expect(seen.followed, "prices that followed pools against others").to.be.at.least(leastCases(20));
  });

  it("knows what it had dropped of the minutes before the fork", async () => {
    await fc.assert(
      fc.asyncProperty(denseStory, async ({ plan, undo }) => {
        const store = await openTestStore();
        const indexer = await openIndexer(store);
        let chain = growChain(plan);
        await indexBlocks(store, { chain, checkpoint: startCheckpoint(), indexer });
        for (const count of undo) {
          chain = chain.slice(0, chain.length - count);
          await goBack(store, { indexer, kept: chain });
          expectSame(pricesOf(indexer), pricesOf(await openIndexer(store)));
        }
        await store.close();
      }),
      { numRuns: randomRuns(60) },
    );
  });
});
