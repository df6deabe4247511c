/**
 * npm run bench:scale — the production layout as processes of this machine: two gateways, two replicas of each service,
 * an ingest and a standby each (deploy/test/layout). The load on Solana is doubled and a third replica of solana joins:
 * what share it takes, and what the other services' requests feel of it. BENCH_RATE: requests a second to the EVM
 * services, and to Solana before it is doubled (20); BENCH_SECONDS of each phase (15); LAYOUT_MONGODB_URL, LAYOUT_REDIS_URL as stores.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Layout, startLayout } from "../deploy/test/layout/layout.ts";
import { type Answer, countStatuses, sendLoad, timesOf } from "../deploy/test/layout/load.ts";
import type { Member } from "../deploy/test/layout/member.ts";
import { pathsOf } from "../deploy/test/layout/paths.ts";
import { type Figure, recordFigures } from "../services/shared/testkit/bench-record.ts";
import { quantile } from "./stats.ts";

const RATE = Number(process.env.BENCH_RATE ?? 20);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 15);
/** Each state is measured so often, in turn: the machine's own moods fall on both. */
const ROUNDS = 3;
const JOIN_MS = 3_000;
const GOALS = { share: 0.2, slower: 1.1 };

interface Phase {
  readonly evm: readonly Answer[];
  readonly solana: readonly Answer[];
  /** Answered by each replica of solana, the third last. */
  readonly byReplica: readonly number[];
}

const layout = await startLayout({ RESPONSE_CACHE_MB: "0" });
const stopTrading = new AbortController();
const trading = layout.trade(stopTrading.signal);
try {
  const paths = await pathsOf(layout);
  const single: Phase[] = [];
  const doubled: Phase[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    single.push(await measure(layout, paths, RATE));
    await layout.spareSolana.start();
    await sleep(JOIN_MS);
    doubled.push(await measure(layout, paths, 2 * RATE));
    await layout.spareSolana.stop("SIGTERM");
    await sleep(JOIN_MS);
  }
  report(join(single), join(doubled));
} finally {
  stopTrading.abort();
  await trading;
  await layout.stop();
}

async function measure(on: Layout, paths: readonly string[], solanaRate: number): Promise<Phase> {
  const isSolana = (path: string) => path.includes("/solana/");
  const replicas = [...on.membersWith("solana"), on.spareSolana];
  const before = replicas.map(countRequests);
  const stop = new AbortController();
  const send = (rate: number, among: readonly string[]) =>
    sendLoad(on, { rate, paths: among, signal: stop.signal });
  const loads = [
    send(
      RATE,
      paths.filter((path) => !isSolana(path)),
    ),
    send(solanaRate, paths.filter(isSolana)),
  ] as const;
  await sleep(1_000 * SECONDS);
  stop.abort();
  const [evm, solana] = await Promise.all(loads);
  return { evm, solana, byReplica: replicas.map((each, i) => countRequests(each) - (before[i] as number)) };
}

function countRequests({ lines }: Member): number {
  return lines.filter((line) => line.includes('"msg":"request"') && line.includes("/solana/")).length;
}

function join(phases: readonly Phase[]): Phase {
  return {
    evm: phases.flatMap(({ evm }) => evm),
    solana: phases.flatMap(({ solana }) => solana),
    byReplica: [0, 1, 2].map((i) => phases.reduce((sum, phase) => sum + (phase.byReplica[i] ?? 0), 0)),
  };
}

function report(single: Phase, doubled: Phase): void {
  for (const [name, phase] of Object.entries({ single, doubled })) {
    console.log(`${name}: EVM ${describe(phase.evm)}; Solana ${describe(phase.solana)}`);
    console.log(`  by replica of solana: ${phase.byReplica.join(", ")}`);
  }
  const total = doubled.byReplica.reduce((sum, count) => sum + count, 0);
  const share = (doubled.byReplica[2] ?? 0) / total;
  const slower = quantile(timesOf(doubled.evm), 0.5) / quantile(timesOf(single.evm), 0.5);
  const failed = [single, doubled].flatMap(({ evm, solana }) => [...evm, ...solana]).filter(isFailed).length;
  const figures: Figure[] = [
    { name: "share of the third replica", value: share, unit: "of 1", goal: { atLeast: GOALS.share } },
    {
      name: "EVM requests, median, beside before",
      value: slower,
      unit: "times",
      goal: { atMost: GOALS.slower },
    },
    { name: "requests that failed", value: failed, unit: "", goal: { atMost: 0 } },
  ];
  for (const { name, value, unit } of figures) console.log(`${name.padEnd(40)}${value.toFixed(2)} ${unit}`);
  if (share < GOALS.share || slower > GOALS.slower || failed > 0) process.exitCode = 1;
  recordFigures("scale", figures);
}

function isFailed({ status }: Answer): boolean {
  return status !== 200;
}

function describe(answers: readonly Answer[]): string {
  const [half, most] = [0.5, 0.99].map((share) => quantile(timesOf(answers), share).toFixed(1));
  return `${answers.length} requests ${JSON.stringify(countStatuses(answers))}, median ${half} ms, 99 % within ${most} ms`;
}
