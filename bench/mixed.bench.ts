/**
 * npm run bench:mixed — backfill of a chain on which every kind of pool is used in every way: swaps, mints, burns,
 * collects and flashes of v3 pools, swaps, liquidity, LP transfers, stakes, claims and rewards of Aerodrome's. From
 * process start to the last row, into SQLite and, with MONGODB_URL, into MongoDB; beside it fetch and decode alone.
 * An event is a log of one of these pools, gauges and factories. What the chain answers is recorded in rounds that
 * are not measured (recorded-node.ts says why).
 */
import { createTestChain, type TestChain } from "../deploy/devnet/testkit.ts";
import { poolEvents } from "../services/evm-dex/store/collections.ts";
import type { Store } from "../services/shared/storage/port.ts";
import { type Figure, recordFigures } from "../services/shared/testkit/bench-record.ts";
import { startRecordedNode } from "./chains/recorded-node.ts";
import { CHAIN_ID, medianOf, type Run, runFetchAlone, runIngest } from "./ingest-run.ts";

const BLOCKS = Number(process.env.BENCH_BLOCKS ?? 1_500);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const GOAL = 15_000;

const chain = await createTestChain({
  accounts: 60,
  keptStates: 20,
  families: ["aerodrome-v2", "slipstream", "pancake-v3", "sushi-v3"],
});
const node = await startRecordedNode(chain.url);
try {
  await chain.anvil.rpc.call("anvil_autoImpersonateAccount", [true]);
  await mine(chain);
  const headNumber = await chain.headNumber();
  const events = await countEvents(chain, headNumber);
  console.log(`chain of ${headNumber + 1} blocks with ${events} events\n`);
  const on = { url: node.url, deploymentsFile: chain.deploymentsFile, headNumber };
  const mongodbUrl = process.env.MONGODB_URL;
  const runs: Record<string, Run[]> = {
    "fetch and decode": [],
    sqlite: [],
    ...(mongodbUrl && { mongodb: [] }),
  };
  await node.record({
    headNumber,
    round: async () => {
      await runFetchAlone(on);
      await runIngest(on, { mongodbUrl: undefined, check: (store) => check(store, events) });
    },
  });
  for (let round = 0; round < ROUNDS; round++) {
    runs["fetch and decode"]?.push({ ...(await runFetchAlone(on)), events });
    runs.sqlite?.push(await runIngest(on, { mongodbUrl: undefined, check: (store) => check(store, events) }));
    if (mongodbUrl)
      runs.mongodb?.push(await runIngest(on, { mongodbUrl, check: (store) => check(store, events) }));
  }
  console.log(`${"".padEnd(18)}events   median s   events/s   CPU s   peak RSS MB   (${ROUNDS} rounds)`);
  const figures: Figure[] = [];
  for (const [name, list] of Object.entries(runs)) {
    const { seconds, peakRssMb, cpuSeconds } = medianOf(list);
    const rate = events / seconds;
    console.log(
      `${name.padEnd(18)}${String(events).padStart(6)}${seconds.toFixed(2).padStart(11)}${rate.toFixed(0).padStart(11)}${cpuSeconds.toFixed(2).padStart(8)}${peakRssMb.toFixed(0).padStart(14)}`,
    );
    const goal = name === "sqlite" ? { goal: { atLeast: GOAL } } : {};
    figures.push({ name: `events of every kind of pool, ${name}`, value: rate, unit: "events/s", ...goal });
    if (name !== "sqlite" || rate >= GOAL) continue;
    console.log(`  not reached: at least ${GOAL} events/s`);
    process.exitCode = 1;
  }
  recordFigures("mixed", figures);
} finally {
  await node.stop();
  await chain.stop();
}

async function mine(on: TestChain): Promise<void> {
  const v3 = allV3(on.deployment);
  for (let block = 0; block < BLOCKS; block++) {
    await on.send(on.randomActions(block, 8, v3));
    await on.sendTransactions(on.aerodrome.randomTransactions(block, 5));
    await on.mine(1, { intervalS: 2 });
  }
}

/** Counted from the node's own logs, not by the code that is measured. */
async function countEvents({ anvil, deployment }: TestChain, head: number): Promise<number> {
  const { aerodrome, slipstream, pancake, sushi } = deployment;
  const emitters = new Set(
    [
      ...allV3(deployment).map((pool) => pool.address),
      ...[deployment.factory, slipstream?.factory, pancake?.factory, sushi?.factory],
      ...[aerodrome?.factory, aerodrome?.voter],
      ...(aerodrome?.pools ?? []).flatMap((pool) => [pool.address, pool.gauge]),
    ].map((address) => address?.toLowerCase()),
  );
  let count = 0;
  for (let from = 0; from <= head; from += 200) {
    const to = Math.min(head, from + 199);
    const range = { fromBlock: `0x${from.toString(16)}`, toBlock: `0x${to.toString(16)}` };
    const logs = await anvil.rpc.call<{ address: string }[]>("eth_getLogs", [range]);
    count += logs.filter((log) => emitters.has(log.address.toLowerCase())).length;
  }
  return count;
}

function allV3({ pools, slipstream, pancake, sushi }: TestChain["deployment"]) {
  return [...pools, ...(slipstream?.pools ?? []), ...(pancake?.pools ?? []), ...(sushi?.pools ?? [])];
}

/** A bench of wrong numbers is worth nothing: the bulk of the events must be rows. */
async function check(store: Store, events: number): Promise<number> {
  const rows = await store.count(poolEvents, { chainId: CHAIN_ID });
  if (rows < events / 3) throw new Error(`${rows} rows are stored of ${events} events.`);
  return events;
}
