import { expect } from "chai";
import fc from "fast-check";
import { it } from "mocha";
import { finalBlocks } from "../../../shared/evm/finality/finality.ts";
import { put, type Store } from "../../../shared/storage/port.ts";
import { describeOnEngines } from "../../../shared/storage/testkit/engines.ts";
import { leastCases, randomRuns } from "../../../shared/testkit/describe.ts";
import { DAY, HOUR, MINUTE, startOf } from "../../metrics/bucket.ts";
import {
  type CheckpointRow,
  COLLECTIONS,
  poolEvents,
  poolUsers,
  priceLinks,
  rollups,
} from "../../store/collections.ts";
import { poolTvls } from "../../store/pool-tvls.ts";
import { readPrices } from "../../store/price-links.ts";
import { retentions } from "../../store/retention.ts";
import { lpEvents, v2LargeSwaps, v2Rollups } from "../../store/v2-collections.ts";
import { address, CHAIN_ID } from "../../test/kit/rows.ts";
import {
  blockPlans,
  growChain,
  indexBlocks,
  type SmallBlock,
  startCheckpoint,
} from "../../test/kit/small-chain.ts";
import { rollbackTo } from "../undo/rollback.ts";
import { Retention, type RetentionDeps } from "./retention.ts";

type Row = Record<string, unknown>;
type Dump = Record<string, Row[]>;

const guard = () => [];
const TOKENS = [0x10, 0x11, 0x12, 0x20, 0x21].map(address);

/** Which rows of a collection count as one another's successors, and by what they expire. */
const EXPIRING: Record<
  string,
  {
    group: (row: Row) => unknown;
    time: (row: Row) => number;
    days: number;
    keeps: boolean;
    /** Days that go at a time. */
    step?: number;
  }[]
> = {
  [poolEvents.name]: [{ group: (r) => r.poolAddress, time: (r) => r.time as number, days: 1, keeps: true }],
  [priceLinks.name]: [{ group: (r) => r.token, time: (r) => r.time as number, days: 1, keeps: true }],
  [lpEvents.name]: [
    { group: (r) => `${r.wallet} ${r.poolAddress}`, time: (r) => r.time as number, days: 31, keeps: true },
  ],
  [rollups.name]: [
    ...[
      { span: MINUTE, days: 40 },
      { span: HOUR, days: 400 },
    ].map(({ days, span }) => ({
      group: (r: Row) => (r.span === span ? r.poolAddress : undefined),
      time: (r: Row) => r.start as number,
      ...{ days, keeps: true },
    })),
  ],
  [v2Rollups.name]: [
    {
      group: (r) => (r.span === HOUR ? r.poolAddress : undefined),
      time: (r) => r.start as number,
      ...{ days: 400, keeps: false },
    },
  ],
  [v2LargeSwaps.name]: [
    { group: (r) => r.poolAddress, time: (r) => r.start as number, days: 8, keeps: false },
  ],
  [poolUsers.name]: [
    {
      ...{ group: (r) => r.poolAddress, time: (r) => r.lastMinute as number, days: 400, keeps: false },
      step: 30,
    },
  ],
};

async function dump(store: Store): Promise<Dump> {
  const all: Dump = {};
  for (const collection of COLLECTIONS)
    if (![retentions, finalBlocks, poolTvls].includes(collection as never))
      all[collection.name] = await store.find(collection, {});
  return all;
}

/** A whole store without what has expired at a time, by the definition. */
function withoutExpired(all: Dump, headTime: number, finalTime: number): Dump {
  return Object.fromEntries(
    Object.entries(all).map(([name, rows]) => {
      let left = rows;
      for (const { group, time, days, keeps, step = 1 } of EXPIRING[name] ?? []) {
        const due = Math.min(startOf(headTime - days * DAY, DAY), startOf(finalTime, DAY));
        const bound = startOf(due, step * DAY);
        const isOld = (row: Row) => group(row) !== undefined && time(row) < bound;
        const last = new Map<unknown, Row>();
        for (const row of left) {
          const before = last.get(group(row));
          if (isOld(row) && (before === undefined || !isBefore(row, before, time))) last.set(group(row), row);
        }
        left = left.filter((row) => !isOld(row) || (keeps && last.get(group(row)) === row));
      }
      return [name, left];
    }),
  );
}

function isBefore(a: Row, b: Row, time: (row: Row) => number): boolean {
  const by = (row: Row) => [time(row), row.blockNumber ?? 0, row.logIndex ?? 0] as number[];
  const [x, y] = [by(a), by(b)];
  for (let i = 0; i < 3; i++) if (x[i] !== y[i]) return (x[i] as number) < (y[i] as number);
  return false;
}

/** Makes a block final and removes all that is due at a checkpoint. */
async function removeDue(
  store: Store,
  {
    checkpoint,
    final,
    ...options
  }: { checkpoint: CheckpointRow; final: SmallBlock } & Partial<RetentionDeps>,
): Promise<void> {
  const { hash, number, time } = final.block;
  await store.write([put(finalBlocks, [{ chainId: CHAIN_ID, number, hash, time }])]);
  const deps = { store, guard, chainId: CHAIN_ID, rawDays: 1, rowsAtOnce: 3, budgetMs: 60_000, ...options };
  await new Retention(deps).afterBatch({ checkpoint, events: 0, isFollowing: true });
}

/** Five minutes before the last event up to a block: what a start reads prices from is never removed. */
function settledAt(chain: readonly SmallBlock[], { block: { number } }: SmallBlock): number {
  const last = chain.findLast(({ block }) => block.number <= number && block.events.length > 0);
  return last === undefined ? 0 : last.block.time - 300;
}

/** Chains of some hours to some years. */
const gaps = fc.array(fc.constantFrom(0, 20_000, DAY, 10 * DAY, 90 * DAY), { minLength: 1, maxLength: 4 });
const plans = fc
  .tuple(fc.array(blockPlans(12), { minLength: 3, maxLength: 6 }), gaps)
  .map(([parts, extra]) =>
    parts.flat().map((block, i) => ({ ...block, seconds: block.seconds + (extra[i % extra.length] ?? 0) })),
  );

/**
 * LP events of wallets that rest while the pools' events go first: their last rows were once removed. A block is its
 * seconds and its events, each a pool, kind, user and size.
 */
const RESTING_WALLETS = {
  plan: (
    [
      [864059, "0923 1228"],
      [23599, ""],
      [86600, "2316 3212"],
      [200, "4806 3004 1817"],
      [864200, "5713 4305 2729"],
      [20059, "4012 2127 2108 1802"],
      [86461, "1017 3822"],
      [90000, "1929"],
      [864001, "5527"],
      [20012, "5122 1729 4729"],
      [176400, "5425 4901"],
      [90000, "0608 2111"],
      [864012, "4017 3325 1526 3818"],
      [20200, "5807"],
      [86401, "2811 1124 5318 1201"],
      [3599, "5016 5515"],
      [867700, "0327 3014 5601 3224"],
      [20200, ""],
      [86459, "3708 0028 1924"],
      [200, "1008"],
      [864000, ""],
    ] as const
  ).map(([seconds, events]) => ({
    seconds,
    events: events
      .split(" ")
      .filter((text) => text !== "")
      .map((text) => {
        const [pool = 0, kind = 0, user = 0, size = 0] = [...text].map(Number);
        return { pool, kind, user, size };
      }),
  })),
  finalPercent: 97,
  batch: 1,
};

describeOnEngines(
  (engine) => `retention on ${engine}`,
  { rounds: 60 },
  ({ name, open }) => {
    // A database of MongoDB takes a second to make.
    const numRuns = name === "SQLite" ? randomRuns(25) : 3;
    const opened = async () => {
      const made = await open();
      await made.store.declare(COLLECTIONS);
      return made;
    };

    it("removes what has expired and nothing else, in whatever turns, and the index goes on the same", async () => {
      let removed = 0;
      const story = fc.record({
        plan: plans,
        // Not a double: nearly all of those are next to 0, where nothing is final and nothing expires.
        finalPercent: fc.integer({ min: 0, max: 100 }),
        batch: fc.integer({ min: 1, max: 7 }),
      });
      await fc.assert(
        fc.asyncProperty(story, async ({ batch, finalPercent, plan }) => {
          const chain = growChain(plan);
          const [kept, all] = [await opened(), await opened()];
          let checkpoint = startCheckpoint();
          let final = chain[0] as SmallBlock;
          for (let at = batch; ; at += batch) {
            const part = chain.slice(0, at);
            checkpoint = await indexBlocks(kept.store, { chain: part, checkpoint });
            final = part[Math.floor((finalPercent / 100) * (part.length - 1))] as SmallBlock;
            await removeDue(kept.store, { checkpoint, final });
            if (at >= chain.length) break;
          }
          await indexBlocks(all.store, { chain, checkpoint: startCheckpoint() });
          const times = { headTime: checkpoint.blockTime, finalTime: settledAt(chain, final) };
          removed += await expectOnlyExpiredGone({ kept: kept.store, all: all.store }, times);
          const users = { [poolUsers.name]: (await dump(kept.store))[poolUsers.name] as Row[] };
          expect(withoutExpired(users, times.headTime, times.finalTime)).to.deep.equal(users);
          // Of older blocks the changes of prices are no longer kept.
          const keptFrom = Math.min(startOf(times.headTime - DAY, DAY), startOf(times.finalTime, DAY));
          for (const { block } of chain.slice(-3).filter(({ block: { time } }) => time >= keptFrom)) {
            const at = { chainId: CHAIN_ID, tokens: TOKENS, block: block.number };
            expect(await readPrices(kept.store, at)).to.deep.equal(await readPrices(all.store, at));
          }
          await Promise.all([kept.remove(), all.remove()]);
        }),
        { numRuns, examples: [[RESTING_WALLETS]] },
      );
      expect(removed, "runs that remove nothing prove nothing").to.be.at.least(leastCases(2 * numRuns));
    });

    it("leaves what a rollback to any block that is not final needs", async () => {
      const story = fc.record({ plan: plans, keep: fc.nat(20) });
      await fc.assert(
        fc.asyncProperty(story, async ({ keep, plan }) => {
          const chain = growChain(plan);
          const target = chain[Math.min(keep, chain.length - 1)] as SmallBlock;
          const [kept, all] = [await opened(), await opened()];
          for (const { store } of [kept, all]) {
            const checkpoint = await indexBlocks(store, { chain, checkpoint: startCheckpoint() });
            if (store === kept.store) await removeDue(store, { checkpoint, final: target });
            await rollbackTo(store, { checkpoint, target: target.block, guard });
          }
          const headTime = (chain.at(-1) as SmallBlock).block.time;
          const times = { headTime, finalTime: settledAt(chain, target) };
          await expectOnlyExpiredGone({ kept: kept.store, all: all.store }, times);
          await Promise.all([kept.remove(), all.remove()]);
        }),
        { numRuns },
      );
    });
  },
);

/**
 * Whoever swaps again after more than 400 days is new: their bucket then, which is in no window, is left as it was. What rows tell
 * of a bucket that had gone before is not known any more.
 */
function comparable(name: string, rows: readonly Row[], headTime: number): Row[] {
  const isLong = (from: unknown, to: unknown) => (to as number) - (from as number) > 399 * DAY;
  if (name === poolEvents.name)
    return rows.map((row) => {
      const { previousMinute, previousUsers, time } = row;
      if (isLong(previousMinute ?? time, time)) return { ...row, previousMinute: null, previousUsers: null };
      const hasMinute = previousMinute === null || (time as number) - (previousMinute as number) < 39 * DAY;
      if (hasMinute || previousUsers === null) return row;
      return { ...row, previousUsers: String(previousUsers).replace(/^\S+/, "?") };
    });
  if (name !== rollups.name) return [...rows];
  return rows.map((row) => (isLong(row.start, headTime) ? { ...row, lastSeenUsers: 0 } : row));
}

/** Returns how many rows of the whole store have expired. */
async function expectOnlyExpiredGone(
  { all, kept }: { kept: Store; all: Store },
  { finalTime, headTime }: { headTime: number; finalTime: number },
): Promise<number> {
  const whole = await dump(all);
  const expected = withoutExpired(whole, headTime, finalTime);
  const stored = await dump(kept);
  // A rollback brings back the minute of a user's swap before, however old.
  const actual = withoutExpired(stored, headTime, finalTime);
  for (const name of Object.keys(expected))
    if (name !== poolUsers.name) expect(actual[name], name).to.deep.equal(stored[name]);
  let count = 0;
  for (const [name, rows] of Object.entries(expected)) {
    if (name === "checkpoints") continue;
    expect(comparable(name, actual[name] ?? [], headTime), name).to.deep.equal(
      comparable(name, rows, headTime),
    );
    count += (whole[name] ?? []).length - rows.length;
  }
  return count;
}
