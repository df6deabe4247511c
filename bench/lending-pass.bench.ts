/**
 * npm run bench:lending-pass: reading every market and vault of a chain in one pass. Morpho's and Euler's own
 * contracts on a local node, beside it on the same cores: the time of the node and our own are printed
 * apart. Fails above MAX_CALLS eth_calls a thousand units.
 */

import { type ChainDeployments, loadDeployments } from "../services/lending/deployments.ts";
import { ChainSync } from "../services/lending/ingest/sync.ts";
import { COLLECTIONS, entities } from "../services/lending/store/collections.ts";
import { createEvmSource } from "../services/shared/evm/source/source.ts";
import type { SourceEvent } from "../services/shared/rpc-client/endpoint/endpoint.ts";
import { openSqliteStore } from "../services/shared/storage/sqlite/store.ts";
import { type Figure, recordFigures } from "../services/shared/testkit/bench-record.ts";
import { buildLendingChain } from "./chains/lending-chain.ts";

const COUNT = Number(process.env.BENCH_UNITS ?? 5_000);
/** Far enough for everything to be read again. */
const GAP = 600;
const MAX_CALLS = 40;

const startedMs = performance.now();
const chain = await buildLendingChain({
  markets: Math.round(COUNT * 0.5),
  vaults: Math.round(COUNT * 0.1),
  marketsPerVault: 5,
  evkVaults: Math.round(COUNT * 0.4),
});
const store = await openSqliteStore({ path: ":memory:" });
const calls = new Map<string, { requests: number; calls: number; ms: number }>();
const source = createEvmSource({ chainId: 8453, urls: [chain.url], onEvent: count });
let isReached = true;
const figures: Figure[] = [];
try {
  await store.declare(COLLECTIONS);
  console.log(
    `made in ${((performance.now() - startedMs) / 1000).toFixed(0)} s, ${await chain.headNumber()} blocks`,
  );
  const deps = {
    store,
    source,
    chain: loadDeployments(chain.deploymentsFile)[0] as ChainDeployments,
    refreshSeconds: 600,
    signal: new AbortController().signal,
    log: () => {},
    report: () => {},
    guard: () => [],
  };
  const sync = await ChainSync.open(deps);
  console.log(
    `\n${"pass".padEnd(32)} ${"units".padStart(6)} ${"eth_call".padStart(9)} ${"requests".padStart(9)} ${"s".padStart(7)} ${"own CPU s".padStart(10)}`,
  );
  await measure("first, nothing known", sync);
  await chain.mine(GAP, { intervalS: 2 });
  await measure(`all again, after ${GAP} blocks`, sync);
  for (let head = 1; head <= 3; head++) {
    await chain.mine(1, { intervalS: 150 });
    await measure(`head ${head}, 150 s later`, sync);
  }
} finally {
  await source.close();
  await store.close();
  await chain.stop();
}
recordFigures("lending-pass", figures);
if (!isReached) {
  console.error("bench:lending-pass: not reached");
  process.exitCode = 1;
}

async function measure(name: string, sync: ChainSync): Promise<void> {
  calls.clear();
  const before = sync.checkpoint?.version ?? 0;
  const cpu = process.cpuUsage();
  const atMs = performance.now();
  await sync.step(await source.head());
  const seconds = (performance.now() - atMs) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const read = await store.count(entities, { chainId: 8453, version: { gt: before } });
  const ethCalls = calls.get("eth_call")?.calls ?? 0;
  const requests = [...calls.values()].reduce((sum, each) => sum + each.requests, 0);
  const cells = [read, ethCalls, requests, seconds.toFixed(2), ((user + system) / 1e6).toFixed(2)];
  const [a, b, c, d, e] = cells.map(String) as [string, string, string, string, string];
  console.log(
    `${name.padEnd(32)} ${a.padStart(6)} ${b.padStart(9)} ${c.padStart(9)} ${d.padStart(7)} ${e.padStart(10)}`,
  );
  if (read >= COUNT)
    figures.push(
      { name: `${read} markets and vaults, ${name}`, value: seconds, unit: "s" },
      {
        name: "eth_calls of it for 1,000 of them",
        value: (ethCalls / read) * 1000,
        unit: "calls",
        goal: { atMost: MAX_CALLS },
      },
    );
  if (read >= COUNT && ethCalls > (MAX_CALLS * read) / 1000) isReached = false;
}

function count(event: SourceEvent): void {
  if (event.kind !== "request") return;
  const known = calls.get(event.method) ?? { requests: 0, calls: 0, ms: 0 };
  calls.set(event.method, {
    requests: known.requests + 1,
    calls: known.calls + event.calls,
    ms: known.ms + event.ms,
  });
}
