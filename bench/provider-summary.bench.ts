/**
 * npm run bench:provider-summary — the summary of a wallet with 5,000 LP positions while another process moves the head
 * every half second: how long a response takes, and how long it keeps the event loop from all other requests. On SQLite,
 * and on MongoDB where MONGODB_URL names a server.
 */

import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dexaProviderSummary } from "../services/evm-dex/contract.ts";
import { dexaProviderSummaryHandler } from "../services/evm-dex/endpoints/evm/dexa/v2/provider-summary.handler.ts";
import { COLLECTIONS } from "../services/evm-dex/store/collections.ts";
import { depsOf } from "../services/evm-dex/test/kit/answers.ts";
import { renderTable } from "../services/shared/contract/render-table.ts";
import { type Figure, recordFigures } from "../services/shared/testkit/bench-record.ts";
import { testContext } from "../services/shared/testkit/handler-context.ts";
import { startScript } from "./script.ts";
import { median, quantile } from "./stats.ts";
import { type BenchEngine, dropBenchDatabase, openBenchStore } from "./synthetic/bench-store.ts";
import { WALLET, writeProvider } from "./synthetic/provider.ts";
import { CHAIN, moveHead, writeV2Pools } from "./synthetic/v2.ts";

const POOLS = Number(process.env.BENCH_POOLS ?? 20_000);
const POSITIONS = Number(process.env.BENCH_POSITIONS ?? 5_000);
/** Share of the pools that traded in every hour of the week. */
const ACTIVE = Number(process.env.BENCH_ACTIVE ?? 0.05);
const TOUCHED = 20;
const ROUNDS = 60;
const PAUSE_MS = 100;

async function measure(engine: BenchEngine): Promise<Figure[]> {
  const dir = await mkdtemp(join(tmpdir(), "chaintables-provider-"));
  const place = { dir, database: `chaintables_bench_${process.pid}` };
  const store = await openBenchStore(engine, place);
  try {
    await store.declare(COLLECTIONS);
    await writeV2Pools(store, { pools: POOLS, active: ACTIVE });
    await writeProvider(store, { pools: POOLS, positions: POSITIONS });
    await moveHead(store, { block: 0, touched: TOUCHED, pools: POOLS });
    const handler = dexaProviderSummaryHandler(depsOf(store, [CHAIN]));
    const read = async () => {
      const startedMs = performance.now();
      const { result, cpuMs, heldMs } = await whileWatching(() =>
        handler({ chain_id: 8453, wallet_address: WALLET as `0x${string}` }, testContext()),
      );
      renderTable(dexaProviderSummary, result.rows);
      return { ms: performance.now() - startedMs, cpuMs, heldMs };
    };
    const first = await read();
    const script = { args: [JSON.stringify({ engine, place, pools: POOLS, touched: TOUCHED })] };
    const { child } = await startScript(new URL("provider-writer.ts", import.meta.url), script);
    const reads: Awaited<ReturnType<typeof read>>[] = [];
    for (let i = 0; i < ROUNDS; i++) {
      reads.push(await read());
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    child.stdin?.end();
    const name = `${POSITIONS} positions, ${engine}`;
    const [times, cpu, held] = [
      reads.map(({ ms }) => ms),
      reads.map(({ cpuMs }) => cpuMs),
      reads.map(({ heldMs }) => heldMs),
    ];
    const unit = "ms";
    const figures: Figure[] = [
      { name: `${name}, first response of a process`, value: first.ms, unit },
      { name: `${name}, while the head moves, median`, value: median(times), unit, goal: { atMost: 150 } },
      { name: `${name}, CPU, median`, value: median(cpu), unit },
      { name: `${name}, CPU, 95th percentile`, value: quantile(cpu, 0.95), unit, goal: { atMost: 150 } },
      {
        name: `${name}, longest hold of the event loop, CPU, median`,
        value: median(held),
        unit,
        goal: { atMost: 10 },
      },
      { name: `${name}, the same, 95th percentile`, value: quantile(held, 0.95), unit },
    ];
    for (const { name, value } of figures)
      console.log(`${name.padEnd(70)} ${value.toFixed(1).padStart(8)} ms`);
    return figures;
  } finally {
    await store.close();
    await rm(dir, { recursive: true, force: true });
    if (engine === "mongodb") await dropBenchDatabase(place.database);
  }
}

/** Also the CPU that it took, and most of that between two turns of the event loop: the work of other processes does not count. */
async function whileWatching<T>(work: () => Promise<T>) {
  let isOver = false;
  let heldMs = 0;
  const startedMs = cpuNowMs();
  let lastMs = mainThreadMs();
  const look = (): void => {
    const nowMs = mainThreadMs();
    heldMs = Math.max(heldMs, nowMs - lastMs);
    lastMs = nowMs;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  const result = await work();
  isOver = true;
  look();
  return { result, heldMs, cpuMs: cpuNowMs() - startedMs };
}

/** CPU of the thread that the event loop runs on: the collector's helpers beside it hold nothing. */
function mainThreadMs(): number {
  const nanoseconds = readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ")[0];
  return Number(nanoseconds) / 1e6;
}

function cpuNowMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

const figures = process.env.BENCH_ENGINE === "mongodb" ? [] : await measure("sqlite");
if (process.env.MONGODB_URL) figures.push(...(await measure("mongodb")));
recordFigures("provider-summary", figures);
const missed = figures.filter(
  ({ value, goal }) => goal !== undefined && "atMost" in goal && value > goal.atMost,
);
if (missed.length > 0) {
  console.error(`Not reached: ${missed.map(({ name }) => name).join("; ")}`);
  process.exitCode = 1;
}
