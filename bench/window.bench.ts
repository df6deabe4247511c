/**
 * npm run bench:window — the single-pool metrics over few and over many swaps of one pool, in one run.
 * The cost must not grow with the number of swaps: windows are put together from rollups. Only the swaps of the six minutes
 * that ranges begin within are read one by one: ten a minute of the many, none of the few.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dexbPool } from "../services/evm-dex/contract.ts";
import { readPool } from "../services/evm-dex/serve/pool/read-pool.ts";
import { COLLECTIONS, rollups } from "../services/evm-dex/store/collections.ts";
import { SQLITE_FILE } from "../services/evm-dex/store/sqlite-file.ts";
import { v3PoolView } from "../services/evm-dex/views/v3-pool.ts";
import { toCells } from "../services/shared/contract/cells.ts";
import { renderTable } from "../services/shared/contract/render-table.ts";
import type { Store } from "../services/shared/storage/port.ts";
import { openSqliteStore } from "../services/shared/storage/sqlite/store.ts";
import { recordFigures } from "../services/shared/testkit/bench-record.ts";
import { median, quantile } from "./stats.ts";
import { POOL, writeSyntheticYear } from "./synthetic/year.ts";

const FEW = 10_000;
const MANY = Number(process.env.BENCH_SWAPS ?? 5_000_000);
const ROUNDS = 400;
const MAX_RATIO = 2;
const MAX_MS = 5;

const dir = await mkdtemp(join(tmpdir(), "chaintables-window-"));
try {
  const few = await prepare(FEW);
  const many = await prepare(MANY);
  const timesFew: number[] = [];
  const timesMany: number[] = [];
  // Turn about, so that a slow moment of the machine meets both.
  for (let i = 0; i < ROUNDS; i++) {
    timesFew.push(await timeRead(few));
    timesMany.push(await timeRead(many));
  }
  await few.close();
  await many.close();
  const ratio = median(timesMany) / median(timesFew);
  console.log(`\n${"swaps".padStart(10)}  median ms   p99 ms`);
  for (const [swaps, times] of [
    [FEW, timesFew],
    [MANY, timesMany],
  ] as const) {
    console.log(
      `${String(swaps).padStart(10)}  ${median(times).toFixed(3).padStart(9)}  ${quantile(times, 0.99).toFixed(3).padStart(7)}`,
    );
  }
  console.log(`ratio of the medians ${ratio.toFixed(2)} (at most ${MAX_RATIO}); median under ${MAX_MS} ms`);
  recordFigures("window", [
    {
      name: `one pool, median over ${MANY} swaps`,
      value: median(timesMany),
      unit: "ms",
      goal: { atMost: MAX_MS },
    },
    { name: `the same over ${FEW} swaps`, value: median(timesFew), unit: "ms" },
    { name: "ratio of both", value: ratio, unit: "", goal: { atMost: MAX_RATIO } },
  ]);
  if (ratio > MAX_RATIO || median(timesMany) > MAX_MS) {
    console.error("bench:window: not reached");
    process.exitCode = 1;
  }
} finally {
  await rm(dir, { recursive: true, force: true });
}

async function prepare(swaps: number): Promise<Store> {
  const store = await openSqliteStore({ path: join(dir, `${swaps}.sqlite`), ...SQLITE_FILE });
  await store.declare(COLLECTIONS);
  const startedMs = performance.now();
  await writeSyntheticYear(store, { swaps });
  const buckets = await store.count(rollups, { chainId: POOL.chainId, poolAddress: POOL.poolAddress });
  const seconds = (performance.now() - startedMs) / 1000;
  console.log(`${swaps} swaps of a year written in ${seconds.toFixed(1)} s, with ${buckets} rollups`);
  return store;
}

async function timeRead(store: Store): Promise<number> {
  const startedMs = performance.now();
  const { chainId, poolAddress, family } = POOL;
  const found = await readPool(store, { view: v3PoolView, key: { chainId, poolAddress, family } });
  if (found === undefined) throw new Error("The synthetic pool is not there.");
  renderTable(dexbPool, [toCells(dexbPool, found.row)]);
  return performance.now() - startedMs;
}
