/**
 * npm run bench:day — a synthetic day of Base into SQLite by the built ingest, from process start to the last row:
 * 43,200 blocks, 6.5 million logs over 20,000 pools as skewed as real ones. Its portal and its node are one process of
 * their own on the same machine, outside of the count. The portal's answers are recorded beside the day: a first run makes
 * them on the cores of the ingest, later ones send them from files, at a fraction of the CPU. BENCH_BLOCKS, BENCH_POOLS and
 * BENCH_LOGS (a block) make the day smaller; BENCH_PORTAL=0 reads it over JSON-RPC alone. It is made once and kept in the
 * temporary folder (2 GB with the answers).
 */
import { join } from "node:path";
import {
  poolEvents,
  poolListings,
  poolStates,
  pools,
  priceLinks,
  rollups,
  tokens,
} from "../services/evm-dex/store/collections.ts";
import type { Store } from "../services/shared/storage/port.ts";
import { type Figure, recordFigures } from "../services/shared/testkit/bench-record.ts";
import { end } from "./http-load/gateway-process.ts";
import { CHAIN_ID, type Run, runIngest } from "./ingest-run.ts";
import { cpuSecondsOf } from "./process-cost.ts";
import { startScript } from "./script.ts";
import { readStoreBytes, type StoreBytes } from "./store-bytes.ts";
import { buildDay, type DayFolder } from "./synthetic/day/folder.ts";

const DAY_BLOCKS = 43_200;
const size = {
  blocks: Number(process.env.BENCH_BLOCKS ?? DAY_BLOCKS),
  pools: Number(process.env.BENCH_POOLS ?? 20_000),
  logsPerBlock: Number(process.env.BENCH_LOGS ?? 150),
};
const hasPortal = process.env.BENCH_PORTAL !== "0";
const GOALS = { seconds: 9 * 60, rssMb: 400 };
const POLL_MS = 250;
/** What does not grow with the blocks. */
const BY_POOL: readonly { readonly name: string }[] = [pools, poolListings, poolStates, tokens];

interface Asked {
  readonly node: Readonly<Record<string, number>>;
  readonly portal: {
    readonly requests: number;
    readonly bytes: number;
    /** Answers of blocks: sent from the recording, made during the run. */
    readonly recorded: number;
    readonly made: number;
  };
}

const day = await buildDay(size, console.log);
const { expected } = day;
console.log(
  `${size.blocks} blocks of trades after ${expected.firstDayBlock} that make ${size.pools} pools: ` +
    `${expected.logs} logs, ${expected.swaps} swaps, ${megabytes(expected.bytes)} MB packed`,
);
const script = new URL("./chains/day-server.ts", import.meta.url);
const { child, firstLine } = await startScript(script, {
  args: [day.folder, String(size.pools)],
  // Helper threads of the collector would take a core from what is measured.
  flags: ["--single-threaded-gc"],
});
const lost = new AbortController();
child.once("exit", (code) => lost.abort(new Error(`The portal and the node ended with ${code}.`)));
try {
  const urls = JSON.parse(firstLine) as { rpc: string; portal: string };
  let bytes: StoreBytes | undefined;
  const { headNumber } = expected;
  const run = await runIngest(
    { url: urls.rpc, deploymentsFile: day.deploymentsFile, headNumber },
    {
      mongodbUrl: undefined,
      pollMs: POLL_MS,
      markBlock: expected.firstDayBlock,
      signal: lost.signal,
      env: { EVM_PORTAL_8453: hasPortal ? urls.portal : "" },
      check: async (store, dataDir) => {
        const rows = await check(store, day);
        bytes = readStoreBytes(join(dataDir, "evm-dex.sqlite"));
        return rows;
      },
    },
  );
  const asked = (await (await fetch(urls.rpc)).json()) as Asked;
  report(run, { bytes: bytes as StoreBytes, asked, serverCpuS: cpuSecondsOf(child.pid as number) });
} finally {
  await end(child);
}

/** A bench of wrong numbers is worth nothing. Returns how many rows of events there are. */
async function check(store: Store, { expected: wanted }: DayFolder): Promise<number> {
  const filter = { chainId: CHAIN_ID };
  const found = {
    pools: await store.count(pools, filter),
    swaps: await store.count(poolEvents, { ...filter, kind: "swap" }),
  };
  for (const name of ["pools", "swaps"] as const)
    if (found[name] !== wanted[name])
      throw new Error(`${found[name]} ${name} are stored, ${wanted[name]} were made.`);
  const unpriced = await store.count(poolEvents, { ...filter, kind: "swap", valueUsd: null });
  const [links, sums] = [await store.count(priceLinks, filter), await store.count(rollups, filter)];
  console.log(`${unpriced} swaps without a value in USD, ${links} price links, ${sums} sums of v3 pools`);
  return store.count(poolEvents, filter);
}

function report(
  run: Run,
  { bytes, asked, serverCpuS }: { bytes: StoreBytes; asked: Asked; serverCpuS: number },
): void {
  const {
    events: rows,
    seconds,
    cpuSeconds,
    peakRssMb,
    writtenMb = 0,
    atMark = { seconds: 0, cpuSeconds: 0 },
  } = run;
  const raw = bytes.byCollection[poolEvents.name] ?? 0;
  const ofTrades = { seconds: seconds - atMark.seconds, cpuSeconds: cpuSeconds - atMark.cpuSeconds };
  const scale = DAY_BLOCKS / size.blocks;
  const [dayBytes, dayRaw] = [scaledBytes(bytes, scale), raw * scale];
  const source = asked.portal.requests > 0 ? "the portal" : "JSON-RPC";
  console.log(`\nfrom ${source}, into SQLite, from process start to the last row`);
  const lines: readonly (readonly [string, string])[] = [
    ["wall", `${seconds.toFixed(1)} s`],
    ["CPU of the ingest", `${cpuSeconds.toFixed(1)} s`],
    [
      "events read",
      `${expected.logs} (${(expected.logs / cpuSeconds).toFixed(0)} a CPU second, ${(expected.logs / seconds).toFixed(0)} a second)`,
    ],
    ["rows of events", `${rows} (${(rows / cpuSeconds).toFixed(0)} a CPU second)`],
    ["most memory of the ingest", `${peakRssMb.toFixed(0)} MB`],
    ["written to the disk", `${writtenMb.toFixed(0)} MB`],
    ["store", `${megabytes(bytes.total)} MB (${(bytes.total / expected.logs).toFixed(0)} bytes an event)`],
    ["store without raw rows", `${megabytes(bytes.total - raw)} MB`],
    [
      "of that the trades",
      `${ofTrades.seconds.toFixed(1)} s, ${ofTrades.cpuSeconds.toFixed(1)} s of CPU: ${(expected.tradeLogs / ofTrades.cpuSeconds).toFixed(0)} events a CPU second`,
    ],
    [
      `${scale === 1 ? "a day" : "a day at this rate"}`,
      `${megabytes(dayBytes)} MB, ${megabytes(dayBytes - dayRaw)} MB without raw rows, ${((ofTrades.cpuSeconds * scale) / 60).toFixed(1)} minutes of CPU`,
    ],
    ["requests to the portal", `${asked.portal.requests}, ${megabytes(asked.portal.bytes)} MB packed`],
    [
      "its answers of blocks",
      `${asked.portal.recorded} from the recording, ${asked.portal.made} made and recorded`,
    ],
    [
      "requests to the node",
      Object.entries(asked.node)
        .map(([method, count]) => `${method} ${count}`)
        .join(", "),
    ],
    ["CPU of portal and node", `${serverCpuS.toFixed(1)} s, not counted`],
  ];
  for (const [name, value] of lines) console.log(`${name.padEnd(28)}${value}`);
  for (const [name, part] of Object.entries(bytes.byCollection).slice(0, 8))
    console.log(`  ${name.padEnd(26)}${megabytes(part)} MB`);
  const isWhole = size.blocks === DAY_BLOCKS && size.pools === 20_000 && size.logsPerBlock === 150;
  const isRecorded = asked.portal.made === 0;
  if (!isRecorded)
    console.log("  Answers were made during the run, on the cores of the ingest: run it again for its time.");
  if (!isWhole || !isRecorded) return;
  const figures: Figure[] = [
    {
      name: `a day of Base from ${source}`,
      value: seconds / 60,
      unit: "minutes",
      goal: { atMost: GOALS.seconds / 60 },
    },
    { name: "events of it", value: expected.logs / cpuSeconds, unit: "events/CPU s" },
    { name: "most memory", value: peakRssMb, unit: "MB", goal: { atMost: GOALS.rssMb } },
    { name: "written to the disk", value: writtenMb, unit: "MB" },
    { name: "store", value: bytes.total / 1e6, unit: "MB" },
    { name: "store without raw rows", value: (bytes.total - raw) / 1e6, unit: "MB" },
  ];
  if (seconds > GOALS.seconds || peakRssMb > GOALS.rssMb) {
    console.log(`  not reached: ${GOALS.seconds / 60} minutes in under ${GOALS.rssMb} MB`);
    process.exitCode = 1;
  }
  recordFigures("day", figures);
}

function scaledBytes({ total, byCollection }: StoreBytes, scale: number): number {
  const fixed = BY_POOL.reduce((sum, { name }) => sum + (byCollection[name] ?? 0), 0);
  return fixed + (total - fixed) * scale;
}

function megabytes(count: number): string {
  return (count / 1e6).toFixed(0);
}
