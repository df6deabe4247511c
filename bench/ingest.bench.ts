/**
 * npm run bench:ingest — backfill of 30,000 genuine Uniswap v3 swaps (10 pools, 10 a block), from process start to the
 * last row and rollup, into SQLite and, with MONGODB_URL, into MongoDB; beside it fetch and decode alone. The processes
 * are those of the image: node on the built tree.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { COLLECTIONS, poolEvents, rollups } from "../services/evm-dex/store/collections.ts";
import { getCheckpoint } from "../services/evm-dex/store/queries.ts";
import { openStore } from "../services/shared/storage/open.ts";
import type { Store } from "../services/shared/storage/port.ts";
import { type BenchChain, buildBenchChain } from "./chain.ts";

const SWAPS = Number(process.env.BENCH_SWAPS ?? 30_000);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const CHAIN_ID = 8453;
/** As the Dockerfile sets them. */
const IMAGE_FLAGS = ["--max-old-space-size=448", "--max-semi-space-size=32"];
const GOALS = { sqlite: 20_000, mongodb: 10_000, rssMb: 400 };

interface Run {
  readonly seconds: number;
  readonly events: number;
  readonly peakRssMb: number;
}

const built = fileURLToPath(new URL("../dist/", import.meta.url));
if (!existsSync(built)) throw new Error("There is no dist/: run npm run build first.");
const chain = await buildBenchChain({ swaps: SWAPS, pools: 10, perBlock: 10, say: console.log });
try {
  console.log(
    `chain of ${chain.expected.headNumber + 1} blocks, ${chain.expected.swaps} swaps, ${chain.expected.senders} senders\n`,
  );
  const mongodbUrl = process.env.MONGODB_URL;
  const runs: Record<string, Run[]> = {
    "fetch and decode": [],
    sqlite: [],
    ...(mongodbUrl ? { mongodb: [] } : {}),
  };
  for (let round = 0; round < ROUNDS; round++) {
    runs["fetch and decode"]?.push(await runFetchAlone(chain));
    runs.sqlite?.push(await runIngest(chain, { mongodbUrl: undefined }));
    if (mongodbUrl) runs.mongodb?.push(await runIngest(chain, { mongodbUrl }));
  }
  report(runs);
  if (!mongodbUrl) console.log("mongodb: not measured, MONGODB_URL is not set");
} finally {
  await chain.stop();
}

async function runIngest(on: BenchChain, of: { mongodbUrl: string | undefined }): Promise<Run> {
  const dataDir = await mkdtemp(join(tmpdir(), "chaintables-bench-ingest-"));
  const store = await openStore({
    service: "evm-dex",
    dataDir,
    ...(of.mongodbUrl !== undefined && { mongodbUrl: of.mongodbUrl }),
  });
  await store.declare(COLLECTIONS);
  await empty(store);
  try {
    const env = {
      ...process.env,
      EVM_RPC_8453: on.url,
      EVM_RPC_1: "",
      START_BLOCK_8453: "0",
      DATA_DIR: dataDir,
      DEPLOYMENTS_FILE: on.deploymentsFile,
      MONGODB_URL: of.mongodbUrl ?? "",
      LOG_LEVEL: "warn",
    };
    const startedMs = performance.now();
    const child = spawn(process.execPath, [...IMAGE_FLAGS, join(built, "services/evm-dex/ingest/main.js")], {
      env,
      stdio: "inherit",
    });
    const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
    let block = -1;
    while (block !== on.expected.headNumber) {
      if (child.exitCode !== null)
        throw new Error(`The ingest ended with ${child.exitCode} at block ${block}.`);
      await new Promise((resolve) => setTimeout(resolve, 5));
      block = (await getCheckpoint(store, CHAIN_ID))?.blockNumber ?? -1;
    }
    const seconds = (performance.now() - startedMs) / 1000;
    const peakRssMb = await peakRssOf(child.pid as number);
    child.kill("SIGTERM");
    await ended;
    return { seconds, events: await check(store, on), peakRssMb };
  } finally {
    await empty(store);
    await store.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** A bench of wrong numbers is worth nothing. Answers how many events there are. */
async function check(store: Store, on: BenchChain): Promise<number> {
  const swaps = await store.count(poolEvents, { chainId: CHAIN_ID, kind: "swap" });
  if (swaps !== on.expected.swaps)
    throw new Error(`${swaps} swaps are stored, ${on.expected.swaps} were made.`);
  for (const span of [60, 3600, 86_400]) {
    const rows = await store.find(rollups, { filter: { chainId: CHAIN_ID } });
    const counted = rows.filter((row) => row.span === span).reduce((sum, row) => sum + row.swapCount, 0);
    if (counted !== on.expected.swaps) throw new Error(`Rollups of ${span} s count ${counted} swaps.`);
  }
  return store.count(poolEvents, { chainId: CHAIN_ID });
}

async function empty(store: Store): Promise<void> {
  const { leases } = await import("../services/shared/host/lease.ts");
  const { removeWhere } = await import("../services/shared/storage/port.ts");
  await store.declare([leases]);
  await store.write([...COLLECTIONS, leases].map((collection) => removeWhere(collection, {})));
}

async function runFetchAlone(on: BenchChain): Promise<Run> {
  const child = spawn(
    process.execPath,
    [
      "--import",
      "tsx",
      fileURLToPath(new URL("./fetch-decode.ts", import.meta.url)),
      on.url,
      on.deploymentsFile,
      String(on.expected.headNumber),
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  let printed = "";
  child.stdout.on("data", (chunk) => (printed += chunk));
  const code = await new Promise<number | null>((resolve) => child.once("exit", resolve));
  if (code !== 0) throw new Error(`Fetch and decode alone ended with ${code}.`);
  // Its own clock: it starts through a loader that the built ingest does not need.
  return JSON.parse(printed);
}

/** The largest resident set so far, from the kernel; NaN where there is no /proc. */
async function peakRssOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) / 1024;
}

function report(runs: Record<string, readonly Run[]>): void {
  console.log(
    `${"".padEnd(18)}events   median s   events/s   peak RSS MB   (${ROUNDS} rounds; ingest from process start to last row, fetch and decode without it)`,
  );
  for (const [name, list] of Object.entries(runs)) {
    const sorted = [...list].sort((a, b) => a.seconds - b.seconds);
    const run = sorted[Math.floor(sorted.length / 2)] as Run;
    const rss = Math.max(...list.map((each) => each.peakRssMb));
    const rate = run.events / run.seconds;
    console.log(
      `${name.padEnd(18)}${String(run.events).padStart(6)}${run.seconds.toFixed(2).padStart(11)}${rate.toFixed(0).padStart(11)}${rss.toFixed(0).padStart(14)}`,
    );
    const goal = name === "sqlite" ? GOALS.sqlite : name === "mongodb" ? GOALS.mongodb : 0;
    if (rate < goal || rss > GOALS.rssMb) {
      console.log(`  not reached: at least ${goal} events/s in under ${GOALS.rssMb} MB`);
      process.exitCode = 1;
    }
  }
}
