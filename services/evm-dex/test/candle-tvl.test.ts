import { expect } from "chai";
import fc from "fast-check";
import { it } from "mocha";
import { candleStart, INTERVAL_SECONDS, type Interval } from "../../shared/contract/candle-params.ts";
import type { Endpoint } from "../../shared/contract/endpoint.ts";
import { checkRows } from "../../shared/contract/testkit/check-rows.ts";
import { finalBlocks } from "../../shared/evm/finality/finality.ts";
import { put, removeWhere, type Store } from "../../shared/storage/port.ts";
import { describeOnEngines } from "../../shared/storage/testkit/engines.ts";
import { leastCases, randomRuns } from "../../shared/testkit/describe.ts";
import { ohlcvPool } from "../contract.ts";
import { maxCandlesOf } from "../endpoints/candle-params.ts";
import { createHandlers } from "../handlers.ts";
import { Retention } from "../ingest/retention/retention.ts";
import { DAY, HOUR, startOf } from "../metrics/bucket.ts";
import {
  type CheckpointRow,
  COLLECTIONS,
  type PoolRow,
  type PoolStateRow,
  poolEvents,
  poolStates,
  priceLinks,
} from "../store/collections.ts";
import { observations } from "../store/observations.ts";
import { poolTvls } from "../store/pool-tvls.ts";
import { listRetentions, type RetentionRow, retentions } from "../store/retention.ts";
import { withSurplus } from "../views/past-state.ts";
import { depsOf } from "./kit/answers.ts";
import { askAll, listAsked } from "./kit/past-answers.ts";
import { CHAIN_ID } from "./kit/rows.ts";
import {
  type BlockPlan,
  blockPlans,
  growChain,
  indexBlocks,
  type SmallBlock,
  startCheckpoint,
} from "./kit/small-chain.ts";

const guard = () => [];
const INTERVALS = ["15m", "1h", "8h", "1d", "3d", "1w"] as const;
/** Chains of hours to weeks. */
const plansOf = (most: number) =>
  blockPlans(most, { least: 8, gaps: [0, 12, 61, 900, 3_700, 20_000, 90_000, 3 * DAY] });

/** Three days with a swap every six hours, in a pool of either generation. */
const STEADY: readonly BlockPlan[] = Array.from({ length: 12 }, (_, i) => ({
  seconds: 20_000,
  events: [{ pool: i % 2 === 0 ? 0 : 4, kind: 5, user: 0, size: 2 }],
}));

/** TVL is known after the third block alone: the fourth, in the same hour, makes the pool's price unknown. */
const LOST_IN_AN_HOUR: readonly BlockPlan[] = [
  { seconds: 0, events: [{ pool: 1, kind: 0, user: 0, size: 1 }] },
  { seconds: 0, events: [] },
  { seconds: 0, events: [{ pool: 2, kind: 0, user: 0, size: 1 }] },
  { seconds: 0, events: [{ pool: 2, kind: 4, user: 0, size: 8 }] },
  { seconds: 0, events: [{ pool: 0, kind: 0, user: 0, size: 1 }] },
  { seconds: 3 * DAY, events: [] },
  { seconds: 0, events: [{ pool: 0, kind: 0, user: 0, size: 1 }] },
];

type Tvls = Map<number, number | null>;

/** What ohlcv/pool says of a pool by the start of its candles. */
async function askTvls(store: Store, { pool, interval, end }: Asked): Promise<Tvls> {
  const handlers = createHandlers(depsOf(store));
  const handler = handlers[ohlcvPool.path] as NonNullable<(typeof handlers)[string]>;
  const at = (name: string) => ohlcvPool.columns.findIndex((column) => column.name === name);
  const told: Tvls = new Map();
  const most = maxCandlesOf(interval) * INTERVAL_SECONDS[interval];
  for (let before = end; before > 1_699_000_000; before -= most) {
    const params = { chain_id: pool.chainId, pool_address: pool.poolAddress, base: "token0", interval };
    const range = { after_time: before - most, before_time: before };
    const context = { session: "t", signal: AbortSignal.timeout(60_000) };
    const { rows } = await handler({ ...params, ...range } as never, context);
    checkRows(ohlcvPool as Endpoint, rows as never);
    for (const row of rows as readonly (number | null)[][])
      told.set(row[at("unixTime")] as number, row[at("poolTvlUsd")] as number | null);
  }
  return told;
}
interface Asked {
  readonly pool: PoolRow;
  readonly interval: Interval;
  readonly end: number;
}

/** What the pool's endpoint says of the block of its last event in each candle. */
async function expectedTvls(store: Store, { pool, interval }: Asked): Promise<Tvls> {
  const { chainId, poolAddress } = pool;
  const rows = await store.find(poolEvents, { filter: { chainId, poolAddress } });
  const blocks = new Map(rows.map((row) => [candleStart(row.time, interval), row.blockNumber]));
  const expected: Tvls = new Map();
  for (const [start, at_block] of blocks) {
    const [answer] = (await askAll(store, { pools: [pool], tokens: [] }, { at_block })).values();
    expected.set(start, (answer?.rows?.[0]?.poolTvlUsd ?? null) as number | null);
  }
  return expected;
}

/** Compares all candles; returns how many have a TVL, of a store with removed rows those whose rows are gone. */
function expectTvls(
  told: Tvls,
  at: { asked: Asked; expected: Tvls; marks?: ReadonlyMap<string, RetentionRow> },
): number {
  const { interval, pool } = at.asked;
  const seconds = INTERVAL_SECONDS[interval];
  const timeOf = (rows: string) => at.marks?.get(rows)?.time ?? 0;
  const bound = Math.max(timeOf(poolEvents.name), timeOf(priceLinks.name));
  const hoursFrom = timeOf(`${poolTvls.name}/${HOUR}`);
  let counted = 0;
  for (const [start, tvl] of told) {
    const end = start + seconds;
    const isGone = end <= bound && (seconds < HOUR || (seconds < DAY && end <= hoursFrom));
    const expected = isGone ? null : at.expected.get(start);
    expect(tvl, `${pool.poolAddress} ${interval} ${start}, kept from ${bound}`).to.equal(expected);
    if (tvl !== null && (at.marks === undefined || end <= bound)) counted += 1;
  }
  return counted;
}

/** Removes what is due at a checkpoint, a day of raw rows kept. */
async function removeDue(store: Store, checkpoint: CheckpointRow, { block }: SmallBlock): Promise<void> {
  const { hash, number, time } = block;
  await store.write([put(finalBlocks, [{ chainId: CHAIN_ID, number, hash, time }])]);
  const retention = new Retention({ store, guard, chainId: CHAIN_ID, rawDays: 1, budgetMs: 60_000 });
  await retention.afterBatch({ checkpoint, events: 0, isFollowing: true });
}

/** Balances that exceed the sums of events, from some blocks on. */
function surpluses(pools: readonly PoolRow[], checkpoint: CheckpointRow) {
  return pools.flatMap(({ poolAddress: address, protocol }, i) =>
    protocol === "aerodrome-v2"
      ? []
      : [3, 8, 13]
          .filter((block) => block <= checkpoint.blockNumber)
          .map((blockNumber) => ({
            ...{ chainId: CHAIN_ID, address, what: "surplus", blockNumber },
            ...{ value0: BigInt(blockNumber + i) * 10n ** 20n, value1: BigInt(i) * 10n ** 18n },
          })),
  );
}

/** The states of the head as they are when the last balances have been read. */
function withBalances(
  states: readonly PoolStateRow[],
  { pools, read }: { pools: readonly PoolRow[]; read: ReturnType<typeof surpluses> },
): PoolStateRow[] {
  return states.map((row) => {
    const pool = pools.find(({ poolAddress }) => poolAddress === row.poolAddress) as PoolRow;
    const surplus = read.filter(({ address }) => address === row.poolAddress).at(-1);
    return surplus === undefined ? row : { ...row, ...withSurplus(pool, { state: row.state, surplus }) };
  });
}

/** What is kept, but for hours of which nothing is known: these are left out where a pass finds no other of the day. */
async function known(store: Store) {
  const rows = await store.find(poolTvls, {});
  return rows.filter(({ span, tvlUsd }) => span === DAY || tvlUsd !== null);
}

describeOnEngines(
  (engine) => `TVL in the candles of a pool, on ${engine}`,
  { rounds: 60 },
  ({ name, open }) => {
    // A query of MongoDB takes a hundred times as long.
    const isSqlite = name === "SQLite";
    const numRuns = isSqlite ? randomRuns(20, 3) : 1;
    const intervals: readonly Interval[] = isSqlite ? INTERVALS : ["1h", "1d"];
    const plans = plansOf(isSqlite ? 24 : 9);
    const opened = async () => {
      const made = await open();
      await made.store.declare(COLLECTIONS);
      return made;
    };
    const indexed = async (store: Store, chain: readonly SmallBlock[]) => {
      const checkpoint = await indexBlocks(store, { chain, checkpoint: startCheckpoint() });
      const { pools } = await listAsked(store);
      const read = surpluses(pools, checkpoint);
      const states = await store.find(poolStates, {});
      await store.write([put(observations, read), put(poolStates, withBalances(states, { pools, read }))]);
      return { checkpoint, pools };
    };

    it("is what the pool's endpoint tells of the block of the last event, also where its rows are gone", async () => {
      const seen = { raw: 0, kept: 0 };
      await fc.assert(
        fc.asyncProperty(plans, async (plan) => {
          const chain = growChain(plan);
          const [whole, old] = [await opened(), await opened()];
          const { checkpoint, pools } = await indexed(whole.store, chain);
          await indexed(old.store, chain);
          await removeDue(old.store, checkpoint, chain.at(-1) as SmallBlock);
          const marks = await listRetentions(old.store, CHAIN_ID);
          for (const pool of pools)
            for (const interval of intervals) {
              const asked = { pool, interval, end: checkpoint.blockTime + 1 };
              const expected = await expectedTvls(whole.store, asked);
              seen.raw += expectTvls(await askTvls(whole.store, asked), { asked, expected });
              seen.kept += expectTvls(await askTvls(old.store, asked), { asked, expected, marks });
            }
          await Promise.all([whole.remove(), old.remove()]);
        }),
        { numRuns, examples: [[STEADY]] },
      );
      expect(seen.raw, "candles with a TVL").to.be.at.least(leastCases(isSqlite ? 10 * numRuns : 1));
      expect(seen.kept, "candles with a TVL whose rows are gone").to.be.at.least(
        leastCases(isSqlite ? 5 * numRuns : 1),
      );
    });

    it("is kept of older history too, where that is indexed after later days had gone", async () => {
      let compared = 0;
      await fc.assert(
        fc.asyncProperty(plans, fc.integer({ min: 2, max: 20 }), async (plan, from) => {
          const chain = growChain(plan);
          const [once, twice] = [await opened(), await opened()];
          const { checkpoint } = await indexed(once.store, chain);
          await indexed(twice.store, chain);
          const last = chain.at(-1) as SmallBlock;
          await removeDue(once.store, checkpoint, last);

          const { block } = chain[Math.min(from, chain.length) - 1] as SmallBlock;
          const before = { chainId: CHAIN_ID, blockNumber: { lt: block.number } };
          const rows = await twice.store.find(poolEvents, { filter: before });
          const links = await twice.store.find(priceLinks, { filter: before });
          const read = await twice.store.find(observations, { filter: before });
          await twice.store.write([removeWhere(poolEvents, before)]);
          const later = { ...checkpoint, fromBlock: block.number, fromTime: block.time };
          await removeDue(twice.store, later, last);
          await twice.store.write([put(poolEvents, rows), put(priceLinks, links), put(observations, read)]);
          await removeDue(twice.store, checkpoint, last);

          const kept = await known(once.store);
          expect(await known(twice.store)).to.deep.equal(kept);
          compared += kept.length;
          await Promise.all([once.remove(), twice.remove()]);
        }),
        {
          numRuns: Math.max(2, numRuns),
          examples: [
            [STEADY, 5],
            [LOST_IN_AN_HOUR, 4],
          ],
        },
      );
      expect(compared).to.be.at.least(leastCases(isSqlite ? 5 * numRuns : 1));
    });

    it("is not made up of what an index had removed before TVL was kept", async () => {
      const { store, remove } = await opened();
      const plan = [0, 90_000, 90_000, 90_000, 3_700].map((seconds) => ({
        seconds,
        events: [{ pool: 0, kind: 5, user: 0, size: 2 }],
      }));
      const chain = growChain(plan);
      const { checkpoint } = await indexed(store, chain);
      const time = startOf((chain[1] as SmallBlock).block.time, DAY);
      const gone = { chainId: CHAIN_ID, time, blockNumber: 2, goneTime: time, goneBlock: 2, fromBlock: 1 };
      await store.write([put(retentions, [{ ...gone, rows: priceLinks.name }])]);
      await removeDue(store, checkpoint, chain.at(-1) as SmallBlock);
      const kept = await store.find(poolTvls, { fields: ["start", "tvlUsd"] });
      expect(kept).not.to.be.empty;
      for (const { start, tvlUsd } of kept) {
        expect(start).to.be.at.least(time);
        expect(tvlUsd).to.be.a("number");
      }
      await remove();
    });
  },
);
