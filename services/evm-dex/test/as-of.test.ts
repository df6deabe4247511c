import { expect } from "chai";
import fc from "fast-check";
import { it } from "mocha";
import { finalBlocks } from "../../shared/evm/finality/finality.ts";
import { put, type Store } from "../../shared/storage/port.ts";
import { describeOnEngines } from "../../shared/storage/testkit/engines.ts";
import { randomRuns } from "../../shared/testkit/describe.ts";
import { Retention } from "../ingest/retention/retention.ts";
import { rollbackTo } from "../ingest/undo/rollback.ts";
import { type CheckpointRow, COLLECTIONS } from "../store/collections.ts";
import { type Answers, askAll, expectSameAnswers, listAsked, type PastAnswer } from "./kit/past-answers.ts";
import { CHAIN_ID } from "./kit/rows.ts";
import {
  type BlockPlan,
  blockPlans,
  growChain,
  indexBlocks,
  openIndexer,
  type SmallBlock,
  startCheckpoint,
} from "./kit/small-chain.ts";

const guard = () => [];

/** Answers by the hash of the block that was the head. */
type Recorded = Map<string, { block: SmallBlock["block"]; answers: Answers }>;

/** Indexes block by block, and keeps what is answered at each. */
async function record(
  store: Store,
  {
    chain,
    checkpoint,
    recorded,
  }: { chain: readonly SmallBlock[]; checkpoint: CheckpointRow; recorded: Recorded },
): Promise<CheckpointRow> {
  let at = checkpoint;
  const indexer = await openIndexer(store);
  for (let length = at.blockNumber + 1; length <= chain.length; length++) {
    at = await indexBlocks(store, { chain: chain.slice(0, length), checkpoint: at, batch: 1, indexer });
    const { block } = chain[length - 1] as SmallBlock;
    recorded.set(block.hash, { block, answers: await askAll(store, await listAsked(store)) });
  }
  return at;
}

/** Asks for every block of a chain; returns how many answers had rows and were the same. */
async function expectRecorded(
  store: Store,
  { chain, recorded }: { chain: readonly SmallBlock[]; recorded: Recorded },
): Promise<number> {
  const asked = await listAsked(store);
  const head = (chain.at(-1) as SmallBlock).block.number;
  let compared = 0;
  for (const { block } of chain) {
    const { answers } = recorded.get(block.hash) as { answers: Answers };
    const now = await askAll(store, asked, { at_block: block.number });
    compared += expectSameAnswers(answers, now, `block ${block.number} of ${head}`);
    for (const [request, { version }] of now) {
      if (version === undefined) continue;
      const { hash, number, time } = block;
      expect(version, request).to.include({ block: number, blockHash: hash, time, head });
    }
  }
  return compared;
}

describeOnEngines(
  (engine) => `as of an earlier block, on ${engine}`,
  { rounds: 60 },
  ({ name, open }) => {
    // A query of MongoDB takes a hundred times as long.
    const [numRuns, everyNth] = name === "SQLite" ? [randomRuns(24, 3), 5] : [2, 12];
    const withStore = async (run: (store: Store) => Promise<void>) => {
      const { store, remove } = await open();
      await store.declare(COLLECTIONS);
      await run(store).finally(remove);
    };

    it("each block is answered as it was when it was the head, also after a reorg", async () => {
      let compared = 0;
      const story = fc.record({
        plan: blockPlans(14, { least: 4 }),
        branch: blockPlans(6),
        depth: fc.nat(6),
      });
      await fc.assert(
        fc.asyncProperty(story, ({ branch, depth, plan }) =>
          withStore(async (store) => {
            const recorded: Recorded = new Map();
            const chain = growChain(plan);
            const checkpoint = await record(store, { chain, checkpoint: startCheckpoint(), recorded });
            compared += await expectRecorded(store, { chain, recorded });
            const kept = chain.slice(0, Math.max(1, chain.length - depth));
            const target = (kept.at(-1) as SmallBlock).block;
            await rollbackTo(store, { checkpoint, target, guard });
            const back = {
              ...checkpoint,
              blockNumber: target.number,
              blockHash: target.hash,
              blockTime: target.time,
            };
            const other = growChain(branch, { after: kept, branch: 1 });
            await record(store, { chain: other, checkpoint: back, recorded });
            compared += await expectRecorded(store, { chain: other, recorded });
          }),
        ),
        { numRuns, examples: [[FORKED]] },
      );
      expect(compared, "answers with rows").to.be.greaterThan(20 * numRuns);
    });

    it("the last block at or before a time is the one that is answered", () =>
      withStore(async (store) => {
        const chain = growChain(BUSY);
        await indexBlocks(store, { chain, checkpoint: startCheckpoint() });
        const asked = await listAsked(store);
        for (const [i, { block }] of chain.entries()) {
          if (i % everyNth > 0) continue;
          const next = chain[i + 1]?.block;
          for (const at_time of [block.time, (next?.time ?? block.time + 1) - 1]) {
            const byTime = await askAll(store, asked, { at_time });
            const byBlock = await askAll(store, asked, { at_block: block.number });
            expectSameAnswers(byBlock, byTime, `time ${at_time}`);
          }
        }
      }));

    it("after rows are removed the same or a refusal that names the earliest block, which is answered", () =>
      withStore(async (store) => {
        const recorded: Recorded = new Map();
        const chain = growChain(BUSY);
        const checkpoint = await record(store, { chain, checkpoint: startCheckpoint(), recorded });
        const { number, hash, time } = (chain.at(-2) as SmallBlock).block;
        await store.write([put(finalBlocks, [{ chainId: CHAIN_ID, number, hash, time }])]);
        const retention = new Retention({ store, guard, chainId: CHAIN_ID, rawDays: 1, budgetMs: 60_000 });
        await retention.afterBatch({ checkpoint, events: 0, isFollowing: true });
        const asked = await listAsked(store);
        const seen = { refused: 0, same: 0 };
        const firsts = new Map<number, Answers>();
        const firstOf = async (block: number): Promise<Answers> => {
          const known = firsts.get(block) ?? (await askAll(store, asked, { at_block: block }));
          firsts.set(block, known);
          return known;
        };
        for (const { block } of chain) {
          const then = (recorded.get(block.hash) as { answers: Answers }).answers;
          const now = await askAll(store, asked, { at_block: block.number });
          for (const [request, { rows }] of then) {
            if (rows === undefined) continue;
            const label = `block ${block.number}: ${request}`;
            const after = now.get(request) as PastAnswer;
            if (await isRefused(after, { label, request, firstOf })) seen.refused += 1;
            else {
              expectSameNumbers(rows, after.rows ?? [], label);
              expect(after.version?.isFinal, label).to.equal(block.number <= number);
              seen.same += 1;
            }
          }
        }
        expect(seen.refused).to.be.greaterThan(10);
        expect(seen.same).to.be.greaterThan(10);
      }));

    it("refuses what is above the head, and tells pools that were created later", () =>
      withStore(async (store) => {
        const chain = growChain(BUSY);
        const { blockNumber, blockTime } = await indexBlocks(store, { chain, checkpoint: startCheckpoint() });
        const asked = await listAsked(store);
        for (const asOf of [{ at_block: blockNumber + 1 }, { at_time: blockTime + 1 }]) {
          const [name, value] = Object.entries(asOf)[0] as [string, number];
          for (const [request, { code, message, rows }] of await askAll(store, asked, asOf)) {
            if (rows !== undefined) {
              expect(rows[0]?.nullReason, request).to.equal("block_not_indexed");
              continue;
            }
            expect(code).to.equal("not_found");
            expect(message).to.include(
              `Cannot answer ${name}: ${value} is above the indexed head, block ${blockNumber}`,
            );
          }
        }
        const later = asked.pools.find(({ createdBlock }) => createdBlock > 1);
        if (later === undefined) throw new Error("All pools were created in the first block.");
        const early = await askAll(store, { pools: [later], tokens: [] }, { at_block: 1 });
        for (const { code, message } of early.values()) {
          expect(code).to.equal("not_found");
          expect(message).to.include(`was created in block ${later.createdBlock}, after block 1`);
        }
      }));
  },
);

/** Whether an answer is a refusal, which must name a block that is answered. */
async function isRefused(
  { code, message = "", rows }: PastAnswer,
  { label, request, firstOf }: { label: string; request: string; firstOf(block: number): Promise<Answers> },
): Promise<boolean> {
  if (rows !== undefined) return rows[0]?.nullReason === "block_not_kept";
  expect(code, label).to.equal("not_found");
  const [, earliest] =
    /^Cannot answer at_block: \d+ is below the earliest that is kept, block (\d+) /.exec(message) ?? [];
  expect(earliest, `${label}: ${message}`).to.not.equal(undefined);
  const first = await firstOf(Number(earliest));
  expect(first.get(request)?.rows, `${label}: block ${earliest}`).to.not.equal(undefined);
  return true;
}

/** Windows are shorter where their first rows are gone: those of the head say so too. */
function expectSameNumbers(
  before: readonly Record<string, unknown>[],
  after: readonly Record<string, unknown>[],
  label: string,
): void {
  for (const [i, row] of after.entries())
    for (const [column, value] of Object.entries(row)) {
      if (WINDOWS.has(column) || column === "symbol" || column === "nullReason") continue;
      expect(value, `${label}: ${column}`).to.deep.equal(before[i]?.[column]);
    }
}

/** Of v3 pools: what is summed over ranges that may begin among removed rows. */
const WINDOWS: ReadonlySet<string> = new Set([
  ...["swapVolumeUsd", "feeApr", "tickPressurePer1mUsd", "swapCount", "uniqueUserCount"],
]);

/** A chain with events of all kinds in all pools, and a fork of it. */
const FORKED = {
  plan: Array.from({ length: 12 }, (_, i) => ({
    seconds: [12, 61, 3_700, 90_000][i % 4] as number,
    events: [i, i + 4].map((n) => ({ pool: n % 6, kind: (3 * n) % 10, user: n % 3, size: 1 + (n % 9) })),
  })),
  branch: Array.from({ length: 4 }, (_, i) => ({
    seconds: 200,
    events: [{ pool: i, kind: 5 + i, user: 1, size: 2 + i }],
  })),
  depth: 3,
};

/** Four days with a block every four hours, all pools in turn. */
const BUSY: readonly BlockPlan[] = Array.from({ length: 24 }, (_, i) => ({
  seconds: 14_000 + (i % 5) * 61,
  events: [i, i + 1, i + 3].map((n) => ({ pool: n % 6, kind: 1 + (n % 9), user: n % 3, size: 1 + (n % 9) })),
}));
