import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import type { Store } from "../../../shared/storage/port.ts";
import { leastCases, randomRuns } from "../../../shared/testkit/describe.ts";
import { DAY, HOUR, MINUTE, startOf } from "../../metrics/bucket.ts";
import type { PoolEventRow, RollupRow } from "../../store/collections.ts";
import { dumpStore } from "../../test/kit/harness.ts";
import { lastOf, openTestStore } from "../../test/kit/rows.ts";
import {
  blockPlans,
  growChain,
  indexBlocks,
  NEAR_ROOTS,
  openIndexer,
  type SmallBlock,
  startCheckpoint,
} from "../../test/kit/small-chain.ts";
import type { Detail } from "../state/detail.ts";

/** How many blocks a write has, and whether the ingest was killed after it. */
interface Turn {
  readonly blocks: number;
  readonly isKilled: boolean;
}

const anyTurns = fc.array(fc.record({ blocks: fc.integer({ min: 1, max: 9 }), isKilled: fc.boolean() }), {
  minLength: 1,
  maxLength: 6,
});
/** Many within the five minutes of medians, some over the ends of minutes, hours and days. */
const anyPlan = blockPlans(50, { least: 10, gaps: [0, 2, 12, 59, 61, 120, 299, 300, 301, 3_599, 50_000] });

async function indexIn(
  turns: readonly Turn[],
  { chain, detail }: { chain: readonly SmallBlock[]; detail: Detail },
): Promise<Store> {
  const store = await openTestStore();
  let checkpoint = startCheckpoint();
  let indexer = await openIndexer(store, detail);
  for (let at = 0, turn = 0; at < chain.length; turn++) {
    const { blocks, isKilled } = turns[turn % turns.length] as Turn;
    at += blocks;
    checkpoint = await indexBlocks(store, { chain: chain.slice(0, at), checkpoint, indexer, batch: blocks });
    if (isKilled) indexer = await openIndexer(store, detail);
  }
  return store;
}

const hourOf = ({ poolAddress, time }: PoolEventRow) => `${poolAddress} ${startOf(time, HOUR)}`;
const poolOf = ({ poolAddress }: RollupRow) => poolAddress;
const keyOf = ({ blockNumber, logIndex }: PoolEventRow) => `${blockNumber}:${logIndex}`;

describe("an index whose events do not stay", () => {
  it("has the rows that stay as one with all of them has them, wherever it is killed", async () => {
    const seen = { left: 0, kills: 0 };
    const anyDetail = fc.constantFrom<Detail>("minutes", "hours");
    await fc.assert(
      fc.asyncProperty(anyPlan, anyTurns, anyDetail, async (plan, turns, detail) => {
        const chain = growChain(plan, { roots: NEAR_ROOTS });
        const stores = [
          await indexIn([{ blocks: 7, isKilled: false }], { chain, detail: "events" }),
          await indexIn(turns, { chain, detail }),
        ];
        const [whole, brief] = (await Promise.all(stores.map(dumpStore))) as [Dump, Dump];
        const events = whole.pool_events;
        const kept = brief.pool_events;
        const told = new Map(events.map((row) => [keyOf(row), { ...row, previousUsers: null }]));
        for (const row of kept) expect(row).to.deep.equal(told.get(keyOf(row)));
        const keys = new Set(kept.map(keyOf));
        for (const row of lastOf(events, hourOf)) expect(keys.has(keyOf(row)), keyOf(row)).to.equal(true);
        const ofSpan = (dump: Dump, span: number) => dump.rollups.filter((row) => row.span === span);
        expect(ofSpan(brief, DAY)).to.deep.equal([]);
        expect(ofSpan(brief, HOUR)).to.deep.equal(ofSpan(whole, HOUR));
        const minutesOf = (dump: Dump) =>
          detail === "hours" ? lastOf(ofSpan(dump, MINUTE), poolOf) : ofSpan(dump, MINUTE);
        expect(minutesOf(brief)).to.deep.equal(minutesOf(whole));
        const others = (dump: Dump) => ({ ...dump, pool_events: [], rollups: [] });
        expect(others(brief)).to.deep.equal(others(whole));
        seen.left += events.length - kept.length;
        seen.kills += turns.filter(({ isKilled }) => isKilled).length;
        await Promise.all(stores.map((store) => store.close()));
      }),
      { numRuns: randomRuns(40) },
    );
    expect(seen.left, "events that are left out").to.be.greaterThan(leastCases(200));
    expect(seen.kills).to.be.greaterThan(leastCases(20));
  }).timeout(60_000);
});

interface Dump extends Record<string, unknown[]> {
  pool_events: PoolEventRow[];
  rollups: RollupRow[];
}
