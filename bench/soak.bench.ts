/**
 * npm run bench:soak — the production layout as processes of this machine (deploy/test/layout) under load, reorgs of both
 * chains, kills and pauses for some time: memory, descriptors, connections and log of each kind of process, which have
 * to stay flat, and what clients saw. BENCH_MINUTES (30), BENCH_RATE requests a second (25), BENCH_SEED (1);
 * LAYOUT_MONGODB_URL, LAYOUT_REDIS_URL as stores.
 */
import { readdirSync, readlinkSync } from "node:fs";
import { disturb, type Fault } from "../deploy/test/layout/faults.ts";
import { type Layout, startLayout } from "../deploy/test/layout/layout.ts";
import { countStatuses, sendLoad, timesOf } from "../deploy/test/layout/load.ts";
import { pathsOf } from "../deploy/test/layout/paths.ts";
import { recordFigures } from "../services/shared/testkit/bench-record.ts";
import { memoryMbOf } from "./process-cost.ts";
import { quantile } from "./stats.ts";

const MINUTES = Number(process.env.BENCH_MINUTES ?? 30);
const RATE = Number(process.env.BENCH_RATE ?? 25);
const SEED = Number(process.env.BENCH_SEED ?? 1);
const SAMPLE_MS = 10_000;
/** A process is disturbed about so often in all. */
const REST_MS = 8_000;
/** Since its start a process fills its caches for so long. */
const WARM_MS = 120_000;
const GOALS = { memory: 1.25, descriptors: 20, failed: 0.05 };

interface Sample {
  readonly name: string;
  /** When the process was started: a killed one begins anew. */
  readonly pid: number;
  readonly atMs: number;
  readonly memoryMb: number;
  readonly descriptors: number;
  readonly sockets: number;
  readonly logBytes: number;
}

const layout = await startLayout();
const stop = new AbortController();
const paths = await pathsOf(layout);
const startedMs = performance.now();
const samples: Sample[] = [];
const faults: Fault[] = [];
const running = Promise.all([
  layout.trade(stop.signal),
  sendLoad(layout, { rate: RATE, paths, signal: stop.signal }),
  sampleUntil(stop.signal),
]);
try {
  for (let round = 0; elapsedMs() < MINUTES * 60_000; round += 1)
    faults.push(...(await disturb(layout, { rounds: 1, seed: SEED + round, restMs: REST_MS })));
} finally {
  stop.abort();
}
const [, answers] = await running;
report();
await layout.stop();

function elapsedMs(): number {
  return performance.now() - startedMs;
}

async function sampleUntil(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    samples.push(...sampleAll(layout));
    await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
  }
}

function sampleAll({ members }: Layout): Sample[] {
  return members.flatMap((member) => {
    const { name, pid, lines } = member;
    if (pid === undefined) return [];
    try {
      const open = readdirSync(`/proc/${pid}/fd`);
      const sockets = open.filter((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`).startsWith("socket:")).length;
      const logBytes = lines.reduce((sum, line) => sum + line.length + 1, 0);
      const memoryMb = memoryMbOf(pid);
      return [{ name, pid, atMs: elapsedMs(), memoryMb, descriptors: open.length, sockets, logBytes }];
    } catch {
      // It was just killed.
      return [];
    }
  });
}

function report(): void {
  const failed = answers.filter(({ status }) => status !== 200).length / answers.length;
  console.log(
    `${MINUTES} minutes, ${faults.length} faults: ${JSON.stringify(countBy(faults, ({ kind }) => kind))}`,
  );
  console.log(`${answers.length} requests: ${JSON.stringify(countStatuses(answers))}`);
  console.log(
    `median ${quantile(timesOf(answers), 0.5).toFixed(1)} ms, 99 % within ${quantile(timesOf(answers), 0.99).toFixed(0)} ms`,
  );
  console.log("process             lived   memory warm → end   descriptors   sockets   log an hour");
  let [mostMemory, mostDescriptors] = [0, 0];
  for (const life of longestLives()) {
    const [first, last] = [life[0] as Sample, life.at(-1) as Sample];
    const warm = life.find(({ atMs }) => atMs - first.atMs >= WARM_MS) ?? last;
    const hours = (last.atMs - first.atMs) / 3_600_000;
    mostMemory = Math.max(mostMemory, last.memoryMb / warm.memoryMb);
    mostDescriptors = Math.max(mostDescriptors, last.descriptors - warm.descriptors);
    console.log(
      `${first.name.padEnd(19)}${(hours * 60).toFixed(1).padStart(4)} m ${warm.memoryMb.toFixed(0).padStart(7)} → ${last.memoryMb.toFixed(0)} MB` +
        `${String(warm.descriptors).padStart(9)} → ${last.descriptors}${String(warm.sockets).padStart(7)} → ${last.sockets}` +
        `${(last.logBytes / Math.max(hours, 1e-9) / 1e6).toFixed(1).padStart(9)} MB`,
    );
  }
  const figures = [
    { name: "requests that failed", value: failed, unit: "of 1", goal: { atMost: GOALS.failed } },
    { name: "most growth of memory", value: mostMemory, unit: "times", goal: { atMost: GOALS.memory } },
    { name: "most descriptors more", value: mostDescriptors, unit: "", goal: { atMost: GOALS.descriptors } },
  ];
  for (const { name, value, unit, goal } of figures)
    console.log(`${name.padEnd(28)}${value.toFixed(3)} ${unit} (goal: at most ${goal.atMost})`);
  if (figures.some(({ value, goal }) => value > goal.atMost)) process.exitCode = 1;
  recordFigures("soak", figures);
}

/** Of each process of the layout the samples between two starts, where it lived longest. */
function longestLives(): Sample[][] {
  return layout.members.map(({ name }) => {
    const own = samples.filter((sample) => sample.name === name);
    const byPid = [...new Set(own.map(({ pid }) => pid))].map((pid) =>
      own.filter((each) => each.pid === pid),
    );
    return byPid.sort((a, b) => b.length - a.length)[0] ?? [];
  });
}

function countBy<T>(items: readonly T[], keyOf: (item: T) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) counts[keyOf(item)] = (counts[keyOf(item)] ?? 0) + 1;
  return counts;
}
