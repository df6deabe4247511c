/**
 * npm run bench:soak — the production layout as processes of this machine (deploy/test/layout), built and started as in
 * the image, under load, reorgs of both chains, kills and pauses for some time. The first process of each role is paused
 * but never killed, so that its memory, descriptors, connections and log can be followed through the whole run: they have
 * to stay flat. BENCH_MINUTES (30), BENCH_RATE requests a second (25), BENCH_SEED (1); BENCH_SAMPLES: a file for all
 * samples; LAYOUT_MONGODB_URL, LAYOUT_REDIS_URL as stores.
 */
import { appendFileSync } from "node:fs";
import { buildForTests, TEST_DIST } from "../deploy/check/build.ts";
import { disturb, type Fault } from "../deploy/test/layout/faults.ts";
import { startLayout } from "../deploy/test/layout/layout.ts";
import { countStatuses, sendLoad, timesOf } from "../deploy/test/layout/load.ts";
import type { Member } from "../deploy/test/layout/member.ts";
import { pathsOf } from "../deploy/test/layout/paths.ts";
import { recordFigures } from "../services/shared/testkit/bench-record.ts";
import { IMAGE_FLAGS } from "./image-flags.ts";
import { type Change, type Growth, growthOf, longestLives } from "./soak/growth.ts";
import { type Sample, sampleAll } from "./soak/samples.ts";
import { quantile } from "./stats.ts";

const MINUTES = Number(process.env.BENCH_MINUTES ?? 30);
const RATE = Number(process.env.BENCH_RATE ?? 25);
const SEED = Number(process.env.BENCH_SEED ?? 1);
/** Appended to as the run goes on. */
const SAMPLES = process.env.BENCH_SAMPLES;
const SAMPLE_MS = 10_000;
/** A process is disturbed about so often in all. */
const REST_MS = 8_000;
/** Most memory: three quarters of what the manifests give a process; see deploy/k8s/base/patches/process.yaml. */
const GOALS = { memory: 1.25, mostMb: 480, descriptors: 20, failed: 0.05 };

const unbuilt = await buildForTests();
if (unbuilt.length > 0) throw new Error(unbuilt.join("\n"));
process.env.TEST_DIST = TEST_DIST;
const layout = await startLayout({ NODE_OPTIONS: IMAGE_FLAGS.join(" ") });
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
  for (let round = 0; elapsedMs() < MINUTES * 60_000; round += 1) {
    const options = { rounds: 1, seed: SEED + round, restMs: REST_MS };
    faults.push(...(await disturb(layout, { ...options, spares: isSpared })));
  }
} finally {
  stop.abort();
}
const [, answers] = await running;
report();
await layout.stop();

function isSpared({ plan }: Member): boolean {
  return plan.index === 0;
}

function elapsedMs(): number {
  return performance.now() - startedMs;
}

async function sampleUntil(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const taken = await sampleAll(layout.members, elapsedMs());
    samples.push(...taken);
    if (SAMPLES !== undefined)
      appendFileSync(SAMPLES, taken.map((each) => `${JSON.stringify(each)}\n`).join(""));
    await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
  }
}

function report(): void {
  const failed = answers.filter(({ status }) => status !== 200).length / answers.length;
  console.log(
    `${MINUTES} minutes, ${faults.length} faults: ${JSON.stringify(countBy(faults, ({ kind }) => kind))}`,
  );
  console.log(`${answers.length} requests: ${JSON.stringify(countStatuses(answers))}`);
  const [half, most] = [0.5, 0.99].map((share) => quantile(timesOf(answers), share).toFixed(1));
  console.log(`median ${half} ms, 99 % within ${most} ms`);
  const lives = longestLives(samples).flatMap((life) => growthOf(life) ?? []);
  printLives(lives);
  // Those that were killed have lived too short to tell warming up from growing; a standby's life as a leader is shorter.
  const spared = layout.members.filter(isSpared);
  const whole = lives.filter(
    ({ name, minutes }) => spared.some((member) => member.name === name) && minutes > 0.4 * MINUTES,
  );
  if (whole.length < spared.length)
    throw new Error(
      `Only ${whole.length} of ${spared.length} processes that were not killed have lived long enough to be judged.`,
    );
  const mostOf = (read: (life: Growth) => number) => Math.max(...whole.map(read));
  const figures = [
    { name: "requests that failed", value: failed, unit: "of 1", goal: { atMost: GOALS.failed } },
    {
      name: "most growth of the least memory",
      value: mostOf(({ memoryMb }) => memoryMb.to / memoryMb.from),
      unit: "times",
      goal: { atMost: GOALS.memory },
    },
    {
      name: "most descriptors more",
      value: mostOf(({ descriptors }) => descriptors.to - descriptors.from),
      unit: "",
      goal: { atMost: GOALS.descriptors },
    },
    {
      name: "most memory of a process",
      value: mostOf(({ mostMb }) => mostMb),
      unit: "MB",
      goal: { atMost: GOALS.mostMb },
    },
  ];
  for (const { name, value, unit, goal } of figures)
    console.log(`${name.padEnd(34)}${value.toFixed(3)} ${unit} (goal: at most ${goal.atMost})`);
  if (figures.some(({ value, goal }) => !(value <= goal.atMost))) process.exitCode = 1;
  recordFigures("soak", [
    ...figures,
    {
      name: "log of all processes in an hour",
      value: sum(lives.map(({ logMbAnHour }) => logMbAnHour)),
      unit: "MB",
    },
    { name: "answered within, median", value: Number(half), unit: "ms" },
  ]);
}

function printLives(lives: readonly Growth[]): void {
  const columns = [
    "lived",
    "memory MB",
    "of files MB",
    "heap MB",
    "external MB",
    "descriptors",
    "sockets",
    "log MB/h",
  ];
  console.log(`${"process".padEnd(19)}${columns.map((name) => name.padStart(14)).join("")}`);
  const show = ({ from, to }: Change) => `${from.toFixed(0)} → ${to.toFixed(0)}`.padStart(14);
  for (const {
    name,
    minutes,
    memoryMb,
    mappedMb,
    heapMb,
    externalMb,
    descriptors,
    sockets,
    logMbAnHour,
  } of lives)
    console.log(
      `${name.padEnd(19)}${`${minutes.toFixed(1)} min`.padStart(14)}` +
        [memoryMb, mappedMb, heapMb, externalMb, descriptors, sockets].map(show).join("") +
        logMbAnHour.toFixed(1).padStart(14),
    );
}

function countBy<T>(items: readonly T[], keyOf: (item: T) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) counts[keyOf(item)] = (counts[keyOf(item)] ?? 0) + 1;
  return counts;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
