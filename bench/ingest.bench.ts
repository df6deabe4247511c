/**
 * npm run bench:ingest — backfill of 30,000 genuine Uniswap v3 swaps (10 pools, 10 a block), from process start to the
 * last row and rollup, into SQLite and, with MONGODB_URL, into MongoDB; beside it fetch and decode alone. The processes
 * are those of the image: node on the built tree. What the chain answers is recorded in rounds that are not
 * measured (recorded-node.ts says why); with anvil itself on the same cores it is measured too.
 */
import { poolEvents, rollups } from "../services/evm-dex/store/collections.ts";
import type { Store } from "../services/shared/storage/port.ts";
import { type Figure, recordFigures } from "../services/shared/testkit/bench-record.ts";
import { type BenchChain, buildBenchChain } from "./chains/chain.ts";
import { startRecordedNode } from "./chains/recorded-node.ts";
import { CHAIN_ID, medianOf, type Run, runFetchAlone, runIngest } from "./ingest-run.ts";

const SWAPS = Number(process.env.BENCH_SWAPS ?? 30_000);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const GOALS = { sqlite: 20_000, mongodb: 10_000, rssMb: 400 };

const chain = await buildBenchChain({ swaps: SWAPS, pools: 10, perBlock: 10, say: console.log });
const node = await startRecordedNode(chain.url);
try {
  console.log(
    `chain of ${chain.expected.headNumber + 1} blocks, ${chain.expected.swaps} swaps, ${chain.expected.senders} senders\n`,
  );
  const mongodbUrl = process.env.MONGODB_URL;
  const fromAnvil = { ...chain, headNumber: chain.expected.headNumber };
  const toIndex = { ...fromAnvil, url: node.url };
  const into = (on: typeof toIndex, url?: string) =>
    runIngest(on, { mongodbUrl: url, check: (store) => check(store, chain) });
  await node.record({
    headNumber: toIndex.headNumber,
    round: async () => {
      await runFetchAlone(toIndex);
      await into(toIndex);
    },
  });
  const contenders: Record<string, () => Promise<Run>> = {
    "fetch and decode": () => runFetchAlone(toIndex),
    sqlite: () => into(toIndex),
    ...(mongodbUrl ? { mongodb: () => into(toIndex, mongodbUrl) } : {}),
    "sqlite, anvil": () => into(fromAnvil),
  };
  const runs = Object.fromEntries(Object.keys(contenders).map((name) => [name, [] as Run[]]));
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, run] of Object.entries(contenders)) runs[name]?.push(await run());
  report(runs);
  console.log(`${await node.passedOn()} requests were not recorded, anvil answered them`);
  if (!mongodbUrl) console.log("mongodb: not measured, MONGODB_URL is not set");
} finally {
  await node.stop();
  await chain.stop();
}

/** A bench of wrong numbers is worth nothing. Returns how many events there are. */
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

function report(runs: Record<string, readonly Run[]>): void {
  console.log(
    `${"".padEnd(18)}events   median s   events/s   CPU s   peak RSS MB   (${ROUNDS} rounds; ingest from process start to last row, fetch and decode without it)`,
  );
  const figures: Figure[] = [];
  for (const [name, list] of Object.entries(runs)) {
    const run = medianOf(list);
    const rss = Math.max(...list.map((each) => each.peakRssMb));
    const rate = run.events / run.seconds;
    console.log(
      `${name.padEnd(18)}${String(run.events).padStart(6)}${run.seconds.toFixed(2).padStart(11)}${rate.toFixed(0).padStart(11)}${run.cpuSeconds.toFixed(2).padStart(8)}${rss.toFixed(0).padStart(14)}`,
    );
    const goal = name === "sqlite" ? GOALS.sqlite : name === "mongodb" ? GOALS.mongodb : 0;
    figures.push(
      {
        name: `${SWAPS} swaps, ${name}`,
        value: rate,
        unit: "events/s",
        ...(goal > 0 && { goal: { atLeast: goal } }),
      },
      { name: `most memory, ${name}`, value: rss, unit: "MB", goal: { atMost: GOALS.rssMb } },
    );
    if (rate < goal || rss > GOALS.rssMb) {
      console.log(`  not reached: at least ${goal} events/s in under ${GOALS.rssMb} MB`);
      process.exitCode = 1;
    }
  }
  recordFigures("ingest", figures);
}
