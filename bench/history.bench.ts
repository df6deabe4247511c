/**
 * npm run bench:history — the day of bench:day as users get it: the built ingest begins at the head, and the day arrives as
 * history, indexed chunk by chunk in a thread and merged into the index beside the head. From process start until all is
 * merged. The portal and the node are those of bench:day, outside of the count; a first run records the portal's answers.
 * BENCH_BLOCKS, BENCH_POOLS and BENCH_LOGS (a block) make the day smaller; HISTORY_THREADS is as for the ingest.
 *
 * npm run bench:history-old — the same day 41 days before the head: of most days of a year neither events nor minutes are kept.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { findFreePort } from "../deploy/check/servers.ts";
import { poolEvents } from "../services/evm-dex/store/collections.ts";
import { type Figure, recordFigures } from "../services/shared/testkit/bench-record.ts";
import { isWholeDay, readDaySize, requireDay, startDaySource } from "./day-source.ts";
import { CHAIN_ID, type Run, runIngest } from "./ingest-run.ts";
import { readStoreBytes } from "./store-bytes.ts";
import { buildDay, type DaySize } from "./synthetic/day/folder.ts";

const daysAgo = Number(process.argv[2] ?? 0);
const size: DaySize = { ...readDaySize(process.env), ...(daysAgo > 0 && { daysAgo }) };
/** A probe of Kubernetes waits ten seconds by the manifests; a head waits as long as /livez. */
const GOALS = { longestWaitS: 5 };
const POLL_MS = 250;
const DAY_NAME = daysAgo > 0 ? `a day of Base ${daysAgo} days ago` : "a day of Base";

const day = await buildDay(size, console.log);
const source = await startDaySource(day);
try {
  const { urls, signal } = source;
  const { headNumber, firstDayBlock } = day.expected;
  const probe = startProbe(await findFreePort());
  const chunks: number[] = [];
  let storeMb = 0;
  const run = await runIngest(
    { url: urls.rpc, deploymentsFile: day.deploymentsFile, headNumber },
    {
      mongodbUrl: undefined,
      pollMs: POLL_MS,
      markBlock: headNumber,
      isDone({ fromBlock }) {
        if (fromBlock !== chunks.at(-1)) chunks.push(fromBlock);
        return fromBlock <= firstDayBlock;
      },
      signal,
      env: {
        EVM_PORTAL_8453: urls.portal,
        START_BLOCK_8453: "",
        HISTORY_DAYS: String(daysAgo + 3),
        // What it holds of pools at the head is no history.
        QUIET_POOLS_PER_SECOND: "0",
        INGEST_METRICS_PORT: String(probe.port),
      },
      check: async (store, dataDir) => {
        storeMb = (await readStoreBytes(join(dataDir, "evm-dex.sqlite"))).total / 1e6;
        await requireDay(store, day.expected);
        return store.count(poolEvents, { chainId: CHAIN_ID });
      },
    },
  );
  const { made } = (await source.asked()).portal;
  report(run, { chunks: chunks.length - 1, longestWaitS: probe.stop(), storeMb, made });
} finally {
  await source.stop();
}

/** Asks the ingest whether it lives, again and again: how long it holds its event loop at most. */
function startProbe(port: number): { port: number; stop: () => number } {
  let longestMs = 0;
  let isStopped = false;
  const run = async () => {
    while (!isStopped) {
      const startedMs = performance.now();
      const answered = await fetch(`http://127.0.0.1:${port}/livez`).then(
        (response) => response.ok,
        () => false,
      );
      if (answered && !isStopped) longestMs = Math.max(longestMs, performance.now() - startedMs);
      await sleep(100);
    }
  };
  void run();
  return {
    port,
    stop: () => {
      isStopped = true;
      return longestMs / 1000;
    },
  };
}

function report(
  { seconds, cpuSeconds, peakRssMb, writtenMb = 0, atMark }: Run,
  {
    chunks,
    longestWaitS,
    storeMb,
    made,
  }: { chunks: number; longestWaitS: number; storeMb: number; made: number },
): void {
  const { tradeLogs } = day.expected;
  const figures: Figure[] = [
    { name: "from process start to the first rows at the head", value: atMark?.seconds ?? 0, unit: "s" },
    { name: `${DAY_NAME} as history, ${chunks} chunks`, value: seconds / 60, unit: "minutes" },
    { name: "events of it", value: tradeLogs / cpuSeconds, unit: "events/CPU s" },
    { name: "most memory", value: peakRssMb, unit: "MB" },
    { name: "store", value: storeMb, unit: "MB" },
    { name: "written to the disk for it", value: writtenMb, unit: "MB" },
    {
      name: "longest that /livez waited",
      value: longestWaitS,
      unit: "s",
      goal: { atMost: GOALS.longestWaitS },
    },
  ];
  for (const { name, value, unit } of figures) console.log(`${name.padEnd(52)}${value.toFixed(2)} ${unit}`);
  if (longestWaitS > GOALS.longestWaitS) {
    console.log(`  not reached: ${GOALS.longestWaitS} s at most`);
    process.exitCode = 1;
  }
  if (made > 0)
    console.log(
      `  ${made} answers were made during the run, on the cores of the ingest: run it again for its time.`,
    );
  if (isWholeDay(size) && made === 0) recordFigures(daysAgo > 0 ? "history-old" : "history", figures);
}
