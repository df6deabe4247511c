import { expect } from "chai";
import fc from "fast-check";
import { it } from "mocha";
import type { Store } from "../../../shared/storage/port.ts";
import { describeLong, leastCases, randomRuns } from "../../../shared/testkit/describe.ts";
import { type CheckpointRow, COLLECTIONS } from "../../store/collections.ts";
import { getCheckpoint } from "../../store/queries.ts";
import { CHAIN_ID, openTestStore } from "../../test/kit/rows.ts";
import {
  ANCHORS,
  blockPlans,
  growChain,
  indexBlocks,
  openIndexer,
  POOLS,
  type SmallBlock,
  startCheckpoint,
} from "../../test/kit/small-chain.ts";
import type { Indexer } from "../state/indexer.ts";
import { healIndexer, readUndone } from "./heal.ts";
import { rollbackTo } from "./rollback.ts";

const guard = () => [];

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

function pricesOf(indexer: Indexer): unknown {
  const { graph } = indexer.prices;
  const tokens = graph.tokens().sort();
  return {
    tokens: tokens.map((token) => [token, graph.price(token), graph.link(token)]),
    edges: POOLS.map((pool) => graph.edge(pool)).filter((edge) => edge !== undefined && edge.depth0 > 0),
  };
}

const story = fc.record({
  plan: blockPlans(14),
  keep: fc.integer({ min: 1, max: 13 }),
  others: fc.array(fc.record({ plan: blockPlans(6), undo: fc.integer({ min: 1, max: 5 }) }), {
    minLength: 1,
    maxLength: 3,
  }),
  batch: fc.integer({ min: 1, max: 5 }),
});

/** Several blocks are within the five minutes that prices rest on, and the first ones before them. */
const denseStory = fc.record({
  plan: blockPlans(18, { least: 12, gaps: [0, 2, 40, 59, 61, 110] }),
  undo: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 2 }),
});

describeLong("healIndexer", () => {
  it("goes on as an indexer loaded after the rollback does, over one fork after another", async () => {
    let forks = 0;
    await fc.assert(
      fc.asyncProperty(story, async ({ plan, keep, others, batch }) => {
        const store = await openTestStore();
        const indexer = await openIndexer(store);
        let chain = growChain(plan);
        let kept = chain.slice(0, Math.min(keep, chain.length));
        await indexBlocks(store, { chain, checkpoint: startCheckpoint(), batch, indexer });
        for (const [branch, { plan: next, undo }] of others.entries()) {
          const checkpoint = await goBack(store, { indexer, kept });
          const loaded = await openIndexer(store);
          expect(pricesOf(indexer)).to.deep.equal(pricesOf(loaded));
          expect(indexer.pools.size).to.equal(loaded.pools.size);
          chain = growChain(next, { after: kept, branch: branch + 1 });
          await indexBlocks(store, { chain, checkpoint, batch, indexer });
          const [actual, expected] = [await dump(store), await dumpFresh(chain)];
          for (const [name, rows] of Object.entries(expected)) expect(actual[name], name).to.deep.equal(rows);
          kept = chain.slice(0, Math.max(1, chain.length - undo));
          forks += 1;
        }
        await store.close();
      }),
      { numRuns: randomRuns(40) },
    );
    expect(forks).to.be.at.least(leastCases(60));
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
          expect(pricesOf(indexer)).to.deep.equal(pricesOf(await openIndexer(store)));
        }
        await store.close();
      }),
      { numRuns: randomRuns(60) },
    );
  });
});
