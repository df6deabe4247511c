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
import { type Asked, isWholeDay, readDaySize, requireDay, startDaySource, WHOLE_DAY } from "./day-source.ts";
import { CHAIN_ID, type Run, runIngest } from "./ingest-run.ts";
import { readStoreBytes, type StoreBytes } from "./store-bytes.ts";
import { buildDay } from "./synthetic/day/folder.ts";

const size = readDaySize(process.env);
const hasPortal = process.env.BENCH_PORTAL !== "0";
const GOALS = { seconds: 9 * 60, rssMb: 400 };
const POLL_MS = 250;
/** What does not grow with the blocks. */
const BY_POOL: readonly { readonly name: string }[] = [pools, poolListings, poolStates, tokens];

const day = await buildDay(size, console.log);
const { expected } = day;
console.log(
  `${size.blocks} blocks of trades after ${expected.firstDayBlock} that make ${size.pools} pools: ` +
    `${expected.logs} logs, ${expected.swaps} swaps, ${megabytes(expected.bytes)} MB packed`,
);
const source = await startDaySource(day);
try {
  const { urls, signal } = source;
  let bytes: StoreBytes | undefined;
  const { headNumber } = expected;
  const run = await runIngest(
    { url: urls.rpc, deploymentsFile: day.deploymentsFile, headNumber },
    {
      mongodbUrl: undefined,
      pollMs: POLL_MS,
      markBlock: expected.firstDayBlock,
      signal,
      env: { EVM_PORTAL_8453: hasPortal ? urls.portal : "" },
      check: async (store, dataDir) => {
        const rows = await check(store);
        bytes = await readStoreBytes(join(dataDir, "evm-dex.sqlite"));
        return rows;
      },
    },
  );
  const asked = await source.asked();
  report(run, { bytes: bytes as StoreBytes, asked, serverCpuS: source.cpuSeconds() });
} finally {
  await source.stop();
}

/** Returns how many rows of events there are. */
async function check(store: Store): Promise<number> {
  await requireDay(store, expected);
  const filter = { chainId: CHAIN_ID };
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
  const scale = WHOLE_DAY.blocks / size.blocks;
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
  const isRecorded = asked.portal.made === 0;
  if (!isRecorded)
    console.log("  Answers were made during the run, on the cores of the ingest: run it again for its time.");
  if (!isWholeDay(size) || !isRecorded) return;
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
