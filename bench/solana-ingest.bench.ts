/**
 * npm run bench:solana-ingest — backfill of full blocks into SQLite, by the process of the image (node on the built
 * tree). Three mixes: 1,500 transactions, two thirds votes, the others nearly all trades; 4,000, two thirds votes, with 200 trades
 * as mainnet has them (86 million rows a day), the others transfers and swaps that fail, whose CPU at 2.5 slots a second is
 * to leave half of a machine of two cores; and a block that no cluster makes, where every transaction
 * trades on one of the four exchanges, to show what bounds it. Measured from the first block written to the last one.
 * With the bytes of a row and of a holder in the store.
 * BENCH_BLOCKS scales it, BENCH_MIX=mainnet, full or trades picks one.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { openStore } from "../services/shared/storage/open.ts";
import type { Store } from "../services/shared/storage/port.ts";
import { type Figure, recordFigures } from "../services/shared/testkit/bench-record.ts";
import {
  COLLECTIONS,
  candles,
  poolRows,
  supplyRows,
  tokenRows,
} from "../services/solana/store/collections.ts";
import { getCheckpoint } from "../services/solana/store/queries.ts";
import { holders, tokens, traders } from "../services/solana/store/token-collections.ts";
import type { BenchBlocks } from "./chains/solana-blocks.ts";
import { IMAGE_FLAGS } from "./image-flags.ts";
import { cpuSecondsOf, peakRssOf } from "./process-cost.ts";
import { readStoreBytes } from "./store-bytes.ts";

const BLOCKS = Number(process.env.BENCH_BLOCKS ?? 60);
const MIXES = {
  mainnet: { transactions: 500, votes: 1_000, others: 0 },
  full: { transactions: 1_333, votes: 2_667, others: 1_113 },
  trades: { transactions: 1_500, votes: 0, others: 0 },
};

interface Mix {
  readonly transactions: number;
  readonly votes: number;
  /** Of the transactions, those that are transfers, or swaps that fail. */
  readonly others: number;
}
const GOAL_MIX = "mainnet";
const GOALS = { blocksPerSecond: 10, rssMb: 400 };
const SLOTS_PER_SECOND = 2.5;
/** Half of the machine. */
const GOAL_CORES = { mix: "full", atMost: 1 };

const figures: Figure[] = [];
const entry = fileURLToPath(new URL("../dist/services/solana/ingest/main.js", import.meta.url));
if (!existsSync(entry)) throw new Error("There is no dist/: run npm run build first.");
for (const [name, mix] of Object.entries(MIXES)) {
  if ((process.env.BENCH_MIX ?? name) === name) await bench(name, mix);
}
recordFigures("solana-ingest", figures);

async function bench(name: string, mix: Mix): Promise<void> {
  const node = await startNode(mix);
  const dataDir = await mkdtemp(join(tmpdir(), "chaintables-bench-solana-"));
  const store = await openStore({ service: "solana", dataDir });
  await store.declare(COLLECTIONS);
  try {
    report(name, node.made, await index(node.made, { store, dataDir }));
  } finally {
    node.child.kill("SIGKILL");
    await store.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function startNode(mix: Mix): Promise<{ child: ChildProcess; made: BenchBlocks }> {
  const script = fileURLToPath(new URL("./chains/solana-blocks.ts", import.meta.url));
  const args = ["--import", "tsx", script, BLOCKS, mix.transactions, mix.votes, mix.others].map(String);
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  process.once("exit", () => child.kill("SIGKILL"));
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream }))
    return { child, made: JSON.parse(line) };
  throw new Error("The node ended before it served.");
}

interface Run {
  /** Between the first write seen and the last. */
  readonly seconds: number;
  readonly blocks: number;
  /** In that time. */
  readonly cpuSeconds: number;
  readonly peakRssMb: number;
  readonly written: Record<string, number>;
  /** By collection, with its indexes. */
  readonly bytes: Readonly<Record<string, number>>;
}

async function index(made: BenchBlocks, on: { store: Store; dataDir: string }): Promise<Run> {
  const { store, dataDir } = on;
  const child = spawn(process.execPath, [...IMAGE_FLAGS, entry], {
    env: {
      ...process.env,
      SOLANA_RPC: made.url,
      START_BLOCK_SOLANA: "0",
      DATA_DIR: dataDir,
      MONGODB_URL: "",
      LOG_LEVEL: "warn",
    },
    stdio: "inherit",
  });
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const pid = child.pid as number;
  let first: { slot: number; ms: number; cpuSeconds: number } | undefined;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`The ingest ended with ${child.exitCode}.`);
    const checkpoint = await getCheckpoint(store);
    const slot = checkpoint?.slot ?? 0;
    if (checkpoint !== undefined && slot >= checkpoint.fromSlot)
      first ??= { slot, ms: performance.now(), cpuSeconds: cpuSecondsOf(pid) };
    if (slot === made.headSlot) break;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const begun = first as NonNullable<typeof first>;
  const seconds = (performance.now() - begun.ms) / 1000;
  const cost = { cpuSeconds: cpuSecondsOf(pid) - begun.cpuSeconds, peakRssMb: peakRssOf(pid) };
  child.kill("SIGTERM");
  await ended;
  const written: Record<string, number> = {};
  for (const each of [tokenRows, poolRows, supplyRows, candles, holders, traders, tokens] as const)
    written[each.name] = await store.count(each as typeof tokenRows, {});
  const { byCollection } = await readStoreBytes(join(dataDir, "solana.sqlite"));
  return { seconds, blocks: made.headSlot - begun.slot, ...cost, written, bytes: byCollection };
}

function report(name: string, made: BenchBlocks, run: Run): void {
  const expected = 2 * made.trades;
  const found = run.written[tokenRows.name] ?? 0;
  // A bench of wrong numbers is worth nothing; liquidity has one or two rows each.
  if (found < expected + made.liquidity || found > expected + 2 * made.liquidity)
    throw new Error(`${found} rows for ${made.trades} trades and ${made.liquidity} changes of liquidity.`);
  const rate = run.blocks / run.seconds;
  const rows = Object.values(run.written).reduce((sum, count) => sum + count, 0);
  const each = made.transactions + made.votes;
  console.log(
    [
      `${name}: ${made.blocks} blocks of ${each} transactions (${made.votes} votes, ${made.megabytes.toFixed(1)} MB)`,
      `${Math.round((made.trades + made.liquidity) / made.blocks)} trades and changes of liquidity a block`,
    ].join(", "),
  );
  console.log(
    `  ${rate.toFixed(1)} blocks/s, ${Math.round(rate * each)} transactions/s, ${Math.round((rate * rows) / made.blocks)} rows/s, ` +
      `${((run.cpuSeconds / run.blocks) * 1000).toFixed(0)} ms CPU a block, peak RSS ${run.peakRssMb.toFixed(0)} MB`,
  );
  const cores = (run.cpuSeconds / run.blocks) * SLOTS_PER_SECOND;
  const bytesOf = (collection: string) => (run.bytes[collection] ?? 0) / (run.written[collection] ?? 1);
  const [rowBytes, holderBytes] = [bytesOf(tokenRows.name), bytesOf(holders.name)];
  console.log(
    `  ${cores.toFixed(2)} cores at ${SLOTS_PER_SECOND} slots/s; ${rowBytes.toFixed(0)} bytes a token row, ` +
      `${holderBytes.toFixed(0)} bytes a holder`,
  );
  const isHeld = name === GOAL_MIX;
  const what = `blocks of ${made.transactions} transactions and ${made.votes} votes`;
  figures.push(
    {
      name: what,
      value: rate,
      unit: "blocks/s",
      ...(isHeld && { goal: { atLeast: GOALS.blocksPerSecond } }),
    },
    {
      name: `${what}, cores at ${SLOTS_PER_SECOND} slots/s`,
      value: cores,
      unit: "cores",
      ...(name === GOAL_CORES.mix && { goal: { atMost: GOAL_CORES.atMost } }),
    },
    { name: `${what}, bytes a token row`, value: rowBytes, unit: "bytes" },
    { name: `${what}, bytes a holder`, value: holderBytes, unit: "bytes" },
    { name: `${what}, CPU a block`, value: (run.cpuSeconds / run.blocks) * 1000, unit: "ms" },
    {
      name: `${what}, most memory`,
      value: run.peakRssMb,
      unit: "MB",
      ...(isHeld && { goal: { atMost: GOALS.rssMb } }),
    },
  );
  const isReached = rate >= GOALS.blocksPerSecond && run.peakRssMb < GOALS.rssMb;
  const verdict = isReached ? "reached" : "not reached";
  if (name === GOAL_CORES.mix && cores > GOAL_CORES.atMost) process.exitCode = 1;
  console.log(
    `  ${verdict}: ${GOALS.blocksPerSecond} blocks/s in under ${GOALS.rssMb} MB${name === GOAL_MIX ? "" : " (a stress figure, not the goal's mix)"}`,
  );
  if (!isReached && name === GOAL_MIX) process.exitCode = 1;
}
