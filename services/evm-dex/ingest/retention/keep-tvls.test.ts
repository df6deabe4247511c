import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { put, removeWhere, type Store } from "../../../shared/storage/port.ts";
import { openSqliteStore } from "../../../shared/storage/sqlite/store.ts";
import { leastCases, randomRuns } from "../../../shared/testkit/describe.ts";
import { DAY, HOUR, startOf } from "../../metrics/bucket.ts";
import { type CheckpointRow, COLLECTIONS, type PoolEventRow, poolEvents } from "../../store/collections.ts";
import { type PoolTvlRow, poolTvls } from "../../store/pool-tvls.ts";
import { CHAIN_ID } from "../../test/kit/rows.ts";
import {
  type BlockPlan,
  blockPlans,
  growChain,
  indexBlocks,
  type SmallBlock,
  startCheckpoint,
} from "../../test/kit/small-chain.ts";
import { keepTvls, readDayTvls } from "./keep-tvls.ts";

/** A day with an event every twenty minutes, alternately in two pools, and three with few. */
const BUSY_DAY: readonly BlockPlan[] = [7_000, ...Array(60).fill(1_200), ...Array(12).fill(20_000)].map(
  (seconds: number, i) => ({ seconds, events: [{ pool: i % 2 === 0 ? 0 : 4, kind: 5, user: 0, size: 2 }] }),
);
const BUSY_BLOCKS = 61;

/** A store that tells which events keepTvls has read of it. */
function watched(store: Store): { store: Store; read: PoolEventRow[] } {
  const read: PoolEventRow[] = [];
  const getLast: Store["getLast"] = async (collection, ...args) => {
    const rows = await store.getLast(collection, ...args);
    if (collection.name === poolEvents.name) read.push(...(rows as unknown as PoolEventRow[]));
    return rows;
  };
  const get = (target: Store, name: keyof Store) => {
    const value: unknown = name === "getLast" ? getLast : target[name];
    return typeof value === "function" ? value.bind(target) : value;
  };
  return { store: new Proxy(store, { get } as ProxyHandler<Store>), read };
}

/** One pass up to a time; returns the events that it has read. */
async function keep(
  store: Store,
  { checkpoint, bound }: { checkpoint: CheckpointRow; bound: number },
): Promise<readonly PoolEventRow[]> {
  const { store: seen, read } = watched(store);
  const deps = { store: seen, guard: () => [], chainId: CHAIN_ID };
  let told = 0;
  const at = { checkpoint, finalBlock: checkpoint.blockNumber, bound };
  for await (const events of keepTvls(deps, at)) told += events;
  expect(told, "what it says that it has read").to.be.at.most(read.length);
  return read;
}

/** Hours in which a pool has an event up to a time: what a pass has to look at, each once. */
function hoursOf(rows: readonly PoolEventRow[], until: number): Set<string> {
  const found = rows.filter(({ time }) => time <= until);
  return new Set(found.map(({ poolAddress, time }) => `${poolAddress} ${startOf(time, HOUR)}`));
}

/** An index that begins at a block, keeps TVL, gets what is before it, and keeps that. */
async function keepTwice(plan: readonly BlockPlan[], first: number) {
  const store = await openSqliteStore({ path: ":memory:" });
  await store.declare(COLLECTIONS);
  const chain = growChain(plan);
  const checkpoint = await indexBlocks(store, { chain, checkpoint: startCheckpoint() });
  const { block } = chain[Math.min(first, chain.length) - 1] as SmallBlock;
  const bound = startOf(checkpoint.blockTime, DAY);
  const all = await store.find(poolEvents, {});
  const before = { chainId: CHAIN_ID, blockNumber: { lt: block.number } };
  const history = await store.find(poolEvents, { filter: before });
  await store.write([removeWhere(poolEvents, before)]);
  const later = { ...checkpoint, fromBlock: block.number, fromTime: block.time };
  const once = await keep(store, { checkpoint: later, bound });
  const kept = await store.find(poolTvls, {});
  await store.write([put(poolEvents, history)]);
  const again = await keep(store, { checkpoint, bound });
  const stored = await store.find(poolTvls, {});
  await store.close();
  const lastTime = Math.max(-1, ...history.map(({ time }) => time));
  return { all, once, again, kept, stored, lastTime, bound, since: block.time };
}

describe("keepTvls over a day that two passes share", () => {
  it("reads of it the hours before the first pass, once each, and nothing of later days", async () => {
    const first = 31;
    const { all, once, again, lastTime, since, bound } = await keepTwice(BUSY_DAY, first);
    const day = startOf(since, DAY);
    expect(startOf(lastTime, DAY), "the day is shared").to.equal(day);
    expect(day, "later days are kept, too").to.be.below(bound - DAY);
    expect(once.length).to.be.above(20);
    // Ten hours of two pools.
    const hours = hoursOf(all, lastTime);
    expect(hours.size).to.be.within(20, 24);
    const found = again.filter(({ time }) => time >= day);
    expect(found.map(({ poolAddress, time }) => `${poolAddress} ${startOf(time, HOUR)}`)).to.have.members([
      ...hours,
    ]);
    expect(Math.max(...again.map(({ time }) => time))).to.be.at.most(lastTime);
    // What the last search of a pool in a day finds before it.
    expect(again.length - found.length).to.be.at.most(2);
  });

  it("reads no hour twice, whatever the chain and wherever the first pass began, and leaves what that has kept", async () => {
    let shared = 0;
    const plans = blockPlans(30, { least: 8, gaps: [0, 61, 900, 3_700, 20_000, 90_000] });
    const starts = fc.integer({ min: 2, max: 20 });
    await fc.assert(
      fc.asyncProperty(plans, starts, async (plan, first) => {
        const { all, again, kept, stored, lastTime, since, bound } = await keepTwice(plan, first);
        const hours = hoursOf(all, Math.min(lastTime, bound - 1));
        const pools = new Set(all.map(({ poolAddress }) => poolAddress)).size;
        const days = new Set([...hours].map((hour) => startOf(Number(hour.split(" ")[1]), DAY))).size;
        // Each search of a day ends at an event before it.
        expect(again.length).to.be.at.most(hours.size + pools * days);
        expect(stored).to.deep.include.members(kept);
        if (startOf(lastTime, DAY) === startOf(since, DAY) && since < bound) shared += 1;
      }),
      { numRuns: randomRuns(60), examples: [[[...BUSY_DAY], BUSY_BLOCKS - 3]] },
    );
    expect(shared, "runs in which both passes share a day").to.be.at.least(leastCases(randomRuns(60) / 4));
  });
});

describe("readDayTvls", () => {
  it("reads of a day whose hours are not wanted each pool's last event alone", async () => {
    const store = await openSqliteStore({ path: ":memory:" });
    await store.declare(COLLECTIONS);
    const { block } = growChain(BUSY_DAY)[BUSY_BLOCKS - 1] as SmallBlock;
    await indexBlocks(store, { chain: growChain(BUSY_DAY), checkpoint: startCheckpoint() });
    const start = startOf(block.time, DAY);
    const day = { chainId: CHAIN_ID, start, end: start + DAY, firstHour: 0 };
    const read = async (hasHours: boolean) => {
      const { store: seen, read: events } = watched(store);
      const rows: PoolTvlRow[] = [];
      for await (const part of readDayTvls(seen, { ...day, hasHours })) rows.push(...part.rows);
      return { rows, events };
    };
    const [all, last] = [await read(true), await read(false)];
    const isDay = ({ span }: PoolTvlRow) => span === DAY;
    expect(last.rows.filter(isDay)).to.deep.equal(all.rows.filter(isDay)).and.not.be.empty;
    expect(all.rows).to.deep.include.members(last.rows);
    expect(last.events.length).to.equal(last.rows.filter(isDay).length);
    expect(all.events.length).to.be.above(5 * last.events.length);
    await store.close();
  });
});
