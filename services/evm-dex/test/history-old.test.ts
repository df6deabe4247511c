import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { createRandom } from "../../../deploy/devnet/random.ts";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import { createTraders } from "../../../deploy/devnet/traders.ts";
import { compareTexts } from "../../shared/storage/row-list.ts";
import { describeThorough } from "../../shared/testkit/describe.ts";
import { type ChainDeployments, loadDeployments } from "../deployments.ts";
import { type GrowContext, growOnce } from "../ingest/history/grow.ts";
import { type RunChunk, runChunksHere } from "../ingest/history/run-chunk.ts";
import { type PlannedChunk, ScratchStore } from "../ingest/history/scratch.ts";
import { Retention } from "../ingest/retention/retention.ts";
import type { Patience } from "../ingest/unwritten.ts";
import { DAY, HOUR, MINUTE, startOf } from "../metrics/bucket.ts";
import { KEPT_SECONDS } from "../metrics/kept.ts";
import { type PoolEventRow, poolEvents, priceLinks, rollups, tokens } from "../store/collections.ts";
import { type PoolTvlRow, poolTvls } from "../store/pool-tvls.ts";
import { listRetentions, retentions } from "../store/retention.ts";
import { expectSameStore, startTestIngest, type TestIngest } from "./kit/harness.ts";
import { rowsOf } from "./kit/history-rows.ts";
import { growKilled } from "./kit/killed-growth.ts";
import { actOnAerodrome } from "./v2/aerodrome-busy.ts";

const BLOCK_S = 600;
/** Of half an hour whose blocks have others in the five minutes before them. */
const FAST_BLOCK_S = 30;
/** Of the hours after the index's first block: a node calls the block final that is 64 below its head. */
const LATE_BLOCK_S = 120;
/** A noon; pools are made 40 days before, so that all vote with all of their depth. */
const STARTED_S = startOf(1_763_450_000, DAY) + 12 * HOUR;
const GENESIS_S = STARTED_S - 40 * DAY;
/** Of the day in which the chain ends alone rows are kept. */
const RAW_DAYS = 0.01;
/** Writes of a chunk that end in the middle of an hour, of five minutes, of a minute. */
const SMALL_WRITES: Patience = { mostEvents: 15 };

describeThorough("evm-dex ingest: history of days whose rows are not kept", () =>
  describeDays({ gapDays: 0, leastTvls: 50 }),
);
describeThorough("evm-dex ingest: history of days whose minutes are not kept either", () =>
  describeDays({ gapDays: 41, leastTvls: 5 }),
);

/** @param gapDays days without a block between these days and the hours in which the index follows the chain */
function describeDays({ gapDays, leastTvls }: { gapDays: number; leastTvls: number }): void {
  let chain: TestChain;
  let folder: string;
  let startBlock: number;
  /** From the first block on that history comes to, before retention. */
  let fresh: TestIngest;
  let expected: Record<string, unknown[]>;
  /** The hours in which the index began, at first and with each chunk. */
  const firstHours = new Set<number>();

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "chaintables-history-old-"));
    chain = await createTestChain({
      timestamp: GENESIS_S,
      accounts: 32,
      keptStates: 5_000,
      families: ["aerodrome-v2", "slipstream"],
    });
    const traders = createTraders(chain.anvil.rpc, chain.deployment, { seed: 5 });
    const random = createRandom(6);
    let time = STARTED_S;
    const tradeUntil = async (end: number, blockS: number) => {
      for (; time < end; time += blockS) {
        await actOnAerodrome(chain, random, 1);
        await traders.tradeBlock({ timestamp: time, swaps: 2 });
      }
    };
    await tradeUntil(STARTED_S + 3 * HOUR, BLOCK_S);
    await tradeUntil(STARTED_S + 3.5 * HOUR, FAST_BLOCK_S);
    await tradeUntil(STARTED_S + 42.5 * HOUR, BLOCK_S);
    startBlock = await chain.headNumber();
    time += gapDays * DAY;
    await tradeUntil(STARTED_S + gapDays * DAY + 45.5 * HOUR, LATE_BLOCK_S);
    const grown = await startTestIngest(chain, { startBlock });
    await grown.catchUp();
    do firstHours.add(startOf(grown.sync.checkpoint.fromTime, HOUR));
    while (await grow(grown));
    fresh = await startTestIngest(chain, { startBlock: grown.sync.checkpoint.fromBlock });
    await fresh.catchUp();
    await grown.close();
    const retained = await startTestIngest(chain, { startBlock: grown.sync.checkpoint.fromBlock });
    await retained.catchUp();
    expected = await rowsAfterRetention(retained);
    await retained.close();
    expect(expected[poolTvls.name]?.length).to.be.greaterThan(leastTvls);
  });
  after(async () => {
    await fresh?.close();
    await chain?.stop();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  const grow = (
    { store, sync, source }: TestIngest,
    options: Pick<GrowContext, "isArchived"> & {
      patience?: Patience;
      onIndexed?: (planned: PlannedChunk) => Promise<void>;
    } = {},
  ) => {
    const deployments = loadDeployments(chain.deploymentsFile)[0] as ChainDeployments;
    const deps = { store, source, chain: deployments, folder, log: () => {} };
    const { signal } = new AbortController();
    const index = runChunksHere({ ...deps, ...(options.patience && { patience: options.patience }) });
    const runChunk: RunChunk = async (planned, context) => {
      const isDone = await index(planned, context);
      await options.onIndexed?.(planned);
      return isDone;
    };
    return growOnce({ ...deps, sync, days: gapDays + 3, rawDays: RAW_DAYS, runChunk, signal, ...options });
  };

  const retain = async ({ store, sync }: TestIngest) => {
    const { checkpoint } = sync;
    const { chainId } = checkpoint;
    const retention = new Retention({ store, guard: () => [], chainId, rawDays: RAW_DAYS, budgetMs: 60_000 });
    await retention.afterBatch({ checkpoint, events: 0, isFollowing: true });
  };

  /** How many events and minutes of each chunk its file has, the newest first. */
  const growCounting = async (grown: TestIngest, options: Pick<GrowContext, "isArchived"> = {}) => {
    const counts: { events: number; minutes: number }[] = [];
    const onIndexed = async ({ chunk: { chainId, to, from } }: PlannedChunk) => {
      const scratch = await ScratchStore.open(grown.store, { folder, chainId, to });
      const events = await scratch.store.count(poolEvents, { chainId, blockNumber: { gte: from.number } });
      const minutes = await scratch.store.count(rollups, {
        chainId,
        span: MINUTE,
        start: { gte: from.time },
      });
      counts.push({ events, minutes });
      await scratch.close();
    };
    while (await grow(grown, { ...options, onIndexed }));
    return counts;
  };

  it("writes of them into a chunk's file what is read again", async () => {
    const files: Awaited<ReturnType<typeof growCounting>> = [];
    const whole: typeof files = [];
    await withIndex(async (grown) => void files.push(...(await growCounting(grown))));
    await withIndex(async (grown) => void whole.push(...(await growCounting(grown, { isArchived: true }))));
    expect(files.length).to.equal(3);
    expect(files[0], "of the day that the index has a part of").to.deep.equal(whole[0]);
    for (const [i, file] of files.entries()) {
      const all = whole[i] as typeof file;
      if (i === 0) continue;
      expect(file.events).to.be.lessThan(all.events / 1.5);
      if (gapDays === 0) expect(file.minutes).to.equal(all.minutes);
      else expect(file.minutes).to.be.lessThan(all.minutes / 10);
    }
  });

  it("indexes a chunk anew where more is kept by now than its file has", () =>
    withIndex(async (grown) => {
      await grow(grown);
      const midnight = grown.sync.checkpoint.fromBlock;
      const stop = async () => {
        throw new Error("stopped before the merge");
      };
      const error = await grow(grown, { onIndexed: stop }).catch((cause: Error) => cause);
      expect(String(error)).to.include("stopped before the merge");
      await grow(grown, { isArchived: true });
      const from = grown.sync.checkpoint.fromBlock;
      expect(from).to.be.lessThan(midnight);
      const inChunk = { chainId: grown.sync.checkpoint.chainId, blockNumber: { gte: from, lt: midnight } };
      expect(await grown.store.count(poolEvents, inChunk)).to.equal(
        await fresh.store.count(poolEvents, inChunk),
      );
    }));

  /** How many events and price links of earlier blocks are stored. */
  const countBefore = async ({ store, sync }: TestIngest, block: number) => {
    const { chainId } = sync.checkpoint;
    const before = { chainId, blockNumber: { lt: block } };
    return { events: await store.count(poolEvents, before), links: await store.count(priceLinks, before) };
  };

  /** Of each token the last link up to a block. */
  const linksAt = async ({ store, sync }: TestIngest, blockNumber: number) => {
    const { chainId } = sync.checkpoint;
    const keys = (await store.find(tokens, {})).map(({ address }) => ({
      chainId,
      token: address,
      blockNumber,
    }));
    const links = await store.getLast(priceLinks, keys);
    expect(links).to.have.length.greaterThan(4);
    return links.sort((a, b) => compareTexts(a.token, b.token));
  };

  /**
   * All rows once retention is done, but its own: how far it came depends on the way. In an hour in which an index or a chunk
   * began a pool may be told to have no TVL, where others say nothing; and who was seen in a minute that is gone is not told
   * where it was gone when the swap's row was written.
   */
  const rowsAfterRetention = async (ingest: TestIngest) => {
    await retain(ingest);
    const rows = await rowsOf(ingest);
    const tvls = (rows[poolTvls.name] as PoolTvlRow[]).filter(
      ({ span, start, tvlUsd }) => span !== HOUR || tvlUsd !== null || !firstHours.has(start),
    );
    const minutesFrom = startOf(ingest.sync.checkpoint.blockTime - KEPT_SECONDS[MINUTE], DAY);
    const events = (rows[poolEvents.name] as PoolEventRow[]).map((row) =>
      row.previousMinute === null || row.previousMinute >= minutesFrom
        ? row
        : { ...row, previousUsers: null },
    );
    return { ...rows, [poolEvents.name]: events, [poolTvls.name]: tvls, [retentions.name]: [] };
  };

  /** An index that begins at the start block and has come to the head. */
  const withIndex = async (work: (grown: TestIngest) => Promise<void>) => {
    const grown = await startTestIngest(chain, { startBlock });
    try {
      await grown.catchUp();
      await work(grown);
    } finally {
      await grown.close();
    }
  };

  it("writes little else than what retention leaves, and says which blocks are not whole", () =>
    withIndex(async (grown) => {
      const begins: number[] = [];
      do begins.push(grown.sync.checkpoint.fromBlock);
      while (await grow(grown));
      // Back to midnight, then the day before and the noon's day, whose rows are not kept.
      expect(begins.length).to.equal(4);
      const midnight = begins[1] as number;
      const marks = await listRetentions(grown.store, grown.sync.checkpoint.chainId);
      for (const name of ["pool_events", "price_links", "feed_answers", "observations"])
        expect(marks.get(name)?.blockNumber, name).to.equal(midnight);
      const merged = await countBefore(grown, midnight);
      const stored = await countBefore(fresh, midnight);
      expect(merged.events).to.be.lessThan(stored.events / 10);
      expect(merged.links).to.be.lessThan(stored.links / 3);
      // The day before ended with the prices that it ended with, whatever is stored of the day after it.
      const noon = (begins[2] as number) - 1;
      expect(await linksAt(grown, noon)).to.deep.equal(await linksAt(fresh, noon));
      expectSameStore(await rowsAfterRetention(grown), expected);
    }));

  it("ends with what retention leaves of an index from its first block on, also where that works between chunks", () =>
    withIndex(async (grown) => {
      do await retain(grown);
      while (await grow(grown));
      // TVL of the hour in which an index began stays as it was told then (ingest/retention/keep-tvls.ts).
      const comparable = (rows: Record<string, unknown[]>) => ({
        ...rows,
        [poolTvls.name]: (rows[poolTvls.name] as PoolTvlRow[]).filter(
          ({ start, span }) => span !== HOUR || !firstHours.has(start),
        ),
      });
      expectSameStore(comparable(await rowsAfterRetention(grown)), comparable(expected));
    }));

  it("has all of their rows where they are archived before they go", () =>
    withIndex(async (grown) => {
      const midnight = grown.sync.checkpoint.fromBlock;
      while (await grow(grown, { isArchived: true }));
      const { events } = await countBefore(fresh, midnight);
      expect((await countBefore(grown, midnight)).events)
        .to.equal(events)
        .and.be.greaterThan(500);
      expectSameStore(await rowsAfterRetention(grown), expected);
    }));

  it("ends the same wherever it is killed", () =>
    withIndex(async (grown) => {
      const growSlowly = (ingest: TestIngest) => grow(ingest, { patience: SMALL_WRITES });
      const kills = await growKilled(chain, { startBlock, store: grown.store, grow: growSlowly });
      expect(kills).to.be.greaterThan(10);
      const last = await startTestIngest(chain, { startBlock, store: grown.store });
      expectSameStore(await rowsAfterRetention(last), expected);
      await last.close();
    }));
}
