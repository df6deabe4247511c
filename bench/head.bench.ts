/**
 * npm run bench:head: what following the head of a chain asks of its node. The ingests of npm start, as processes of
 * their own, at a made up chain with blocks of Base's size; calls and bytes a block, then the same on a plan as free ones
 * are. Fails above MAX_CALLS a block, or where the free plan does not keep up. Counts, not times: other work on the
 * machine changes nothing but the lag. BENCH_PLAN=any|free runs one of the two; BENCH_POLL_MS sets
 * HEAD_POLL_MS.
 */
import { type Figure, recordFigures } from "../services/shared/testkit/bench-record.ts";
import { BASE_SHAPE } from "./chains/head-chain.ts";
import { type Counted, callsOfNode, FREE_PLAN, type NodePlan } from "./chains/head-node.ts";
import { CLIENTS, type HeadRun, runAtHead } from "./head-run.ts";
import { unitsOf } from "./provider-units.ts";

const BLOCKS = Number(process.env.BENCH_BLOCKS ?? 60);
const WARM_UP = 15;
/** The watcher is counted to evm-dex, which would have to look at the head without it. */
const MAX_CALLS = { "evm-dex": 4, lending: 2 } as const;
/** Blocks that an ingest may be behind the node: one is being read while the next one comes. */
const MAX_BEHIND = 2;
const BLOCKS_A_DAY = 86_400 / BASE_SHAPE.blockSeconds;

const figures: Figure[] = [];
let isReached = true;

const pollMs = Number(process.env.BENCH_POLL_MS ?? 250);
const only = process.env.BENCH_PLAN;
if (only !== "free") await measure("any plan", {});
if (only !== "any") await measure("free plan", FREE_PLAN);
recordFigures("head", figures);
if (!isReached) {
  console.error("bench:head: not reached");
  process.exitCode = 1;
}

async function measure(name: string, plan: NodePlan): Promise<void> {
  const run = await runAtHead({ shape: BASE_SHAPE, plan, blocks: BLOCKS, warmUp: WARM_UP, pollMs });
  const { blocks, counted } = run;
  console.log(`\n${name}: ${BASE_SHAPE.touchedPools} touched pools a block, ${blocks} blocks`);
  print(["", "calls", "KB sent", "KB got", "gzip", "by method"]);
  for (const client of CLIENTS) print([client, ...cellsOf(counted[client], blocks)]);
  const all = sumOf(CLIENTS.map((client) => counted[client]));
  print(["all", ...cellsOf(all, blocks)]);
  console.log("a day of Base, at the weights of docs/rpc-costs.md:");
  for (const [provider, units] of unitsOf(all.calls))
    console.log(`  ${provider}: ${Math.round((units / blocks) * BLOCKS_A_DAY).toLocaleString("en")} units`);
  const behind = Math.max(...Object.values(run.mostBehind));
  console.log(
    `at most ${behind} blocks behind, median lag ${run.lagSeconds.toFixed(2)} s, ${all.refused} refused`,
  );
  hold(name, run, { behind });
}

function hold(name: string, { counted, blocks }: HeadRun, { behind }: { behind: number }): void {
  const ofEvmDex = callsOfNode(counted.watcher) + callsOfNode(counted["evm-dex"]);
  const calls = { "evm-dex": ofEvmDex / blocks, lending: callsOfNode(counted.lending) / blocks };
  for (const service of ["evm-dex", "lending"] as const) {
    const goal = { atMost: MAX_CALLS[service] };
    const figure = `calls a block of ${service} at ${BASE_SHAPE.touchedPools} touched pools, ${name}`;
    figures.push({ name: figure, value: calls[service], unit: "calls", goal });
    if (calls[service] > goal.atMost) isReached = false;
  }
  // A head that is looked at seldom is meant to be behind: by two looks where one takes place while blocks are read.
  const goal = { atMost: MAX_BEHIND + 2 * Math.floor(pollMs / 1_000 / BASE_SHAPE.blockSeconds) };
  figures.push({ name: `most blocks behind the node, ${name}`, value: behind, unit: "blocks", goal });
  if (behind > goal.atMost) isReached = false;
}

function cellsOf(counted: Counted, blocks: number): string[] {
  const kilobytes = (bytes: number) => (bytes / blocks / 1_000).toFixed(1);
  const byMethod = [...counted.calls]
    .sort((a, b) => b[1] - a[1])
    .map(([method, count]) => `${method.replace("eth_", "")} ${(count / blocks).toFixed(2)}`);
  const { bytesOut, bytesIn, bytesInGzip } = counted;
  return [
    (callsOfNode(counted) / blocks).toFixed(2),
    ...[bytesOut, bytesIn, bytesInGzip].map(kilobytes),
    byMethod.join(", "),
  ];
}

function print([name = "", ...cells]: readonly string[]): void {
  const last = cells.pop();
  console.log(`${name.padEnd(9)}${cells.map((cell) => cell.padStart(9)).join("")}  ${last}`);
}

function sumOf(all: readonly Counted[]): Counted {
  const calls = new Map<string, number>();
  for (const counted of all)
    for (const [method, count] of counted.calls) calls.set(method, (calls.get(method) ?? 0) + count);
  const sum = (countOf: (counted: Counted) => number) =>
    all.reduce((total, each) => total + countOf(each), 0);
  return {
    calls,
    requests: sum((each) => each.requests),
    refused: sum((each) => each.refused),
    bytesOut: sum((each) => each.bytesOut),
    bytesIn: sum((each) => each.bytesIn),
    bytesInGzip: sum((each) => each.bytesInGzip),
  };
}
