/**
 * npm run bench:candles — candles of one pool with TVL, as many as each of the 13 intervals allows, of a year of swaps: while every
 * row is stored, and after retention has removed all but eight days; medians of CPU time. SQLite, and with MONGODB_URL MongoDB.
 * BENCH_SWAPS sets how many swaps.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { maxCandlesOf } from "../services/evm-dex/endpoints/candle-params.ts";
import { ohlcvPoolHandler } from "../services/evm-dex/endpoints/evm/ohlcv/pool.handler.ts";
import { Retention } from "../services/evm-dex/ingest/retention/retention.ts";
import { COLLECTIONS } from "../services/evm-dex/store/collections.ts";
import { poolTvls } from "../services/evm-dex/store/pool-tvls.ts";
import { getCheckpoint } from "../services/evm-dex/store/queries.ts";
import { SQLITE_FILE } from "../services/evm-dex/store/sqlite-file.ts";
import { INTERVAL_SECONDS, INTERVALS, type Interval } from "../services/shared/contract/candle-params.ts";
import { finalBlocks } from "../services/shared/evm/finality/finality.ts";
import { openMongoStore } from "../services/shared/storage/mongodb/store.ts";
import { put, type Store } from "../services/shared/storage/port.ts";
import { openSqliteStore } from "../services/shared/storage/sqlite/store.ts";
import { type Figure, recordFigures } from "../services/shared/testkit/bench-record.ts";
import { median, quantile } from "./stats.ts";
import { POOL, writeSyntheticYear } from "./synthetic/year.ts";

const SWAPS = Number(process.env.BENCH_SWAPS ?? 500_000);
const ROUNDS = 15;
const RAW_DAYS = 8;
/** Of the 1,000 candles of a request at most, in CPU time: other work on the machine does not count. */
const MAX_CPU_MS = 100;

const figures: Figure[] = [];
const dir = await mkdtemp(join(tmpdir(), "chaintables-candles-"));
try {
  await run("sqlite", await openSqliteStore({ path: join(dir, "evm-dex.sqlite"), ...SQLITE_FILE }));
} finally {
  await rm(dir, { recursive: true, force: true });
}
const url = process.env.MONGODB_URL;
if (url === undefined) console.log("mongodb: not measured, MONGODB_URL is not set");
else await runMongo(url);
recordFigures("candles", figures);

async function runMongo(mongo: string): Promise<void> {
  const database = `chaintables_bench_candles_${process.pid}`;
  await run("mongodb", await openMongoStore({ url: mongo, database }));
  const { MongoClient } = await import("mongodb");
  const client = await MongoClient.connect(mongo);
  await client.db(database).dropDatabase();
  await client.close();
}

async function run(engine: string, store: Store): Promise<void> {
  await store.declare(COLLECTIONS);
  await writeSyntheticYear(store, { swaps: SWAPS });
  await measure(engine, { store, when: "all rows stored" });
  await removeOld(store);
  console.log(`${engine}: ${await store.count(poolTvls, { chainId: POOL.chainId })} rows of TVL were kept`);
  await measure(engine, { store, when: `${RAW_DAYS} days of rows stored` });
  await store.close();
}

async function removeOld(store: Store): Promise<void> {
  const checkpoint = await getCheckpoint(store, POOL.chainId);
  if (checkpoint === undefined) throw new Error("The synthetic year is not there.");
  const { chainId, blockNumber: number, blockHash: hash, blockTime: time } = checkpoint;
  await store.write([put(finalBlocks, [{ chainId, number, hash, time }])]);
  const deps = { store, guard: () => [], chainId, rawDays: RAW_DAYS, budgetMs: 3_600_000 };
  const startedMs = performance.now();
  await new Retention(deps).afterBatch({ checkpoint, events: 0, isFollowing: true });
  console.log(`removed in ${((performance.now() - startedMs) / 1_000).toFixed(1)} s`);
}

async function measure(engine: string, at: { store: Store; when: string }): Promise<void> {
  for (const interval of INTERVALS) {
    const times: number[] = [];
    const cpu: number[] = [];
    let rows: readonly unknown[] = [];
    let known = 0;
    for (let round = -2; round < ROUNDS; round++) {
      const startedMs = performance.now();
      const before = process.cpuUsage();
      rows = await ask(at.store, interval);
      const { user, system } = process.cpuUsage(before);
      // The first rounds load and compile.
      if (round < 0) continue;
      times.push(performance.now() - startedMs);
      cpu.push((user + system) / 1_000);
    }
    known = rows.filter((row) => (row as readonly unknown[]).at(-1) !== null).length;
    const cpuMs = median(cpu);
    const label = `${engine}, ${at.when}, ${interval}: ${rows.length} candles, ${known} with TVL`;
    const [ms, p99] = [median(times), quantile(times, 0.99)].map((each) => each.toFixed(1));
    console.log(`${label}: ${cpuMs.toFixed(1)} ms CPU, ${ms} ms, p99 ${p99} ms`);
    figures.push({ name: `CPU, ${label}`, value: cpuMs, unit: "ms", goal: { atMost: MAX_CPU_MS } });
    if (cpuMs > MAX_CPU_MS) process.exitCode = 1;
  }
}

/** As many candles as the interval allows, within the year. */
async function ask(store: Store, interval: Interval): Promise<readonly unknown[]> {
  const head = (await getCheckpoint(store, POOL.chainId))?.blockTime ?? 0;
  const length = Math.min(365 * 86_400, (maxCandlesOf(interval) - 1) * INTERVAL_SECONDS[interval]);
  const params = { chain_id: POOL.chainId, pool_address: POOL.poolAddress, base: "token0", interval };
  const range = { after_time: head - length, before_time: head + 1 };
  const context = { session: "bench", signal: AbortSignal.timeout(60_000) };
  const { rows } = await ohlcvPoolHandler({ store })({ ...params, ...range } as never, context);
  return rows;
}
