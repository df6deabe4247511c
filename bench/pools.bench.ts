/**
 * npm run bench:pools — an ingest that knows 500,000 pools, of which 300,000 have had events, in a store of 3 million
 * events: how long it takes to start, what it has in memory, events a CPU second over a stream as skewed as trades are
 * (Zipf), bytes that it writes at the head, and how long a reorg of two blocks takes. bench:pools-100k and bench:pools-10k
 * are the same with as many pools with events, the former with 30 million events stored. BENCH_KNOWN, BENCH_POOLS,
 * BENCH_ROWS and BENCH_EVENTS (of the stream) change a size. The process that is measured is bundled and has the flags of the
 * image and of the manifests. BENCH_KEEP names a folder whose history is used again.
 */
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { INGEST_MALLOC } from "../services/shared/process/malloc.ts";
import { type Figure, recordFigures } from "../services/shared/testkit/bench-record.ts";
import { IMAGE_FLAGS, INGEST_FLAGS } from "./image-flags.ts";
import { type StreamBlock, writeBlocks } from "./pools/stream-file.ts";
import { usersOf, writeHistory } from "./synthetic/pool-history.ts";
import { CHAIN_ID, createMarket, streamBlocks } from "./synthetic/pool-market.ts";

const SIZES = {
  pools: { known: 500_000, active: 300_000, rows: 3_000_000, stream: 200_000, perCpuSecond: undefined },
  "pools-100k": { known: 166_667, active: 100_000, rows: 30_000_000, stream: 400_000, perCpuSecond: 12_000 },
  "pools-10k": { known: 20_000, active: 10_000, rows: 3_000_000, stream: 600_000, perCpuSecond: 20_000 },
} as const;
const BENCH = (process.argv[2] ?? "pools") as keyof typeof SIZES;
const SIZE = SIZES[BENCH];
/** Events that are to be added and written, where the size has such a goal and is not changed. */
const PER_CPU_SECOND = ["BENCH_POOLS", "BENCH_ROWS"].some((name) => name in process.env)
  ? undefined
  : SIZE.perCpuSecond;
const ACTIVE = Number(process.env.BENCH_POOLS ?? SIZE.active);
const KNOWN = Number(process.env.BENCH_KNOWN ?? knownBeside(ACTIVE));
const ROWS = Number(process.env.BENCH_ROWS ?? SIZE.rows);
const STREAM = Number(process.env.BENCH_EVENTS ?? SIZE.stream);
/** Events that are loaded and added at a time, as those of a part of a history. */
const BATCH = Number(process.env.BENCH_BATCH ?? 2_500);
const PER_BLOCK = 200;
/** Blocks at the end that are written one by one, as at the head. */
const HEAD_BLOCKS = 250;
/** Of Base. */
const BLOCKS_A_DAY = 43_200;
const GOALS = { startS: 5, memoryMb: 400, reorgS: 1 };

const folder = process.env.BENCH_KEEP ?? (await mkdtemp(join(tmpdir(), "chaintables-bench-pools-")));
mkdirSync(folder, { recursive: true });
const name = `${KNOWN}-${ACTIVE}-${ROWS}`;
const market = createMarket({ known: KNOWN, active: ACTIVE });
const history = join(folder, `${name}.sqlite`);
const head = await writeOnce();
const files = await writeStream();
const run = await measure();
report(run);
if (process.env.BENCH_KEEP === undefined) for (const path of Object.values(files)) rmSync(path);
if (process.env.BENCH_KEEP === undefined) rmSync(folder, { recursive: true });

/** Of Base's pools three in five have had events. */
function knownBeside(active: number): number {
  return active === SIZE.active ? SIZE.known : Math.ceil((active * 5) / 3);
}

async function writeOnce(): Promise<{ number: number; time: number }> {
  const at = { number: 30_000_000, time: 1_790_000_040 };
  if (existsSync(history)) return at;
  const made = await writeHistory(folder, { market, events: ROWS, say: console.log });
  copyFileSync(made.path, history);
  for (const end of ["", "-wal", "-shm"]) rmSync(`${made.path}${end}`, { force: true });
  return made.head;
}

async function writeStream(): Promise<{ stream: string; fork: string }> {
  const users = (pool: number) => usersOf(pool, { events: ROWS, active: ACTIVE });
  const blocks: StreamBlock[] = [];
  const count = Math.floor(STREAM / PER_BLOCK) + HEAD_BLOCKS;
  for (const block of streamBlocks(market, { from: head, perBlock: PER_BLOCK, usersOf: users })) {
    blocks.push(block);
    if (blocks.length === count) break;
  }
  const parent = blocks[count - 3] as StreamBlock;
  const forked: StreamBlock[] = [];
  for (const block of streamBlocks(market, {
    from: parent,
    perBlock: PER_BLOCK,
    branch: 1,
    usersOf: users,
  })) {
    forked.push(block);
    if (forked.length === 2) break;
  }
  const paths = { stream: join(folder, "stream.jsonl"), fork: join(folder, "fork.jsonl") };
  await writeBlocks(paths.stream, blocks);
  await writeBlocks(paths.fork, forked);
  return paths;
}

async function measure(): Promise<Record<string, number>> {
  const out = fileURLToPath(new URL("../.cache/bench-pools/run.mjs", import.meta.url));
  await build({
    entryPoints: [fileURLToPath(new URL("./pools/run.ts", import.meta.url))],
    outfile: out,
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    logLevel: "error",
  });
  const path = join(folder, "measured.sqlite");
  copyFileSync(history, path);
  const options = {
    ...{ path, ...files, anchors: market.graph.anchors, chainId: CHAIN_ID, batch: BATCH },
    ...{ blocks: Math.floor(STREAM / PER_BLOCK), headBlocks: HEAD_BLOCKS },
  };
  try {
    const flags = process.env.BENCH_FLAGS?.split(" ") ?? [...IMAGE_FLAGS, ...INGEST_FLAGS];
    const printed = execFileSync(process.execPath, [...flags, out, JSON.stringify(options)], {
      encoding: "utf8",
      env: { ...INGEST_MALLOC, ...process.env },
      stdio: ["ignore", "pipe", "inherit"],
      maxBuffer: 2 ** 26,
    });
    return JSON.parse(printed.trim().split("\n").at(-1) as string);
  } finally {
    for (const end of ["", "-wal", "-shm"]) rmSync(`${path}${end}`, { force: true });
  }
}

function report(run: Record<string, number>): void {
  const at = `${ACTIVE} pools with events`;
  const figures: Figure[] = [
    { name: `start, CPU, ${at} of ${KNOWN}`, value: run.startCpu as number, unit: "s" },
    { name: "start, wall", value: run.startWall as number, unit: "s", goal: { atMost: GOALS.startS } },
    { name: "memory after the start", value: run.rssAfterStart as number, unit: "MB" },
    { name: "most memory", value: run.peak as number, unit: "MB", goal: { atMost: GOALS.memoryMb } },
    {
      name: `${ROWS / 1e6} million rows stored, ${at}`,
      value: run.eventsPerCpuSecond as number,
      unit: "events a CPU second",
      ...(PER_CPU_SECOND !== undefined && { goal: { atLeast: PER_CPU_SECOND } }),
    },
    {
      name: `written at the head, ${PER_BLOCK} events a block every two seconds`,
      value: ((run.headMegabytes as number) * BLOCKS_A_DAY) / 1000,
      unit: "GB a day",
    },
    { name: "a reorg of two blocks, CPU", value: run.healCpu as number, unit: "s" },
    {
      name: "a reorg of two blocks, wall",
      value: run.healWall as number,
      unit: "s",
      goal: { atMost: GOALS.reorgS },
    },
  ];
  for (const figure of figures) {
    const isMissed =
      figure.goal !== undefined &&
      ("atLeast" in figure.goal ? figure.value < figure.goal.atLeast : figure.value > figure.goal.atMost);
    if (isMissed) process.exitCode = 1;
    console.log(
      `${figure.name.padEnd(60)}${figure.value.toFixed(2).padStart(12)} ${figure.unit}${isMissed ? "  not reached" : ""}`,
    );
  }
  console.log(JSON.stringify(run));
  recordFigures(BENCH, figures);
}
