/** The yardstick of bench:ingest: the same fetch and decode as the ingest, into nothing. Arguments: URL, deployments file, head. */
import { loadDeployments } from "../services/evm-dex/deployments.ts";
import { readBackfill } from "../services/evm-dex/ingest/fetch/backfill.ts";
import { Fetcher } from "../services/evm-dex/ingest/fetch/fetcher.ts";
import { createEvmSource } from "../services/shared/evm/source/source.ts";
import { readInThread } from "../services/shared/evm/thread/thread.ts";

const [url = "", deploymentsFile = "", head = "0"] = process.argv.slice(2);
const startedMs = performance.now();
const config = { chainId: 8453, urls: [url] };
const local = createEvmSource(config);
const source = readInThread(local, config);
const factories = loadDeployments(deploymentsFile)[0]?.factories ?? [];
const fetcher = new Fetcher(source, {
  factories,
  known: { protocolOf: () => undefined, poolOfGauge: () => undefined, isForeign: () => false },
});
const { signal } = new AbortController();
let events = 0;
for await (const chunk of readBackfill({ source, fetcher, from: 0, to: Number(head), signal })) {
  for (const block of chunk.blocks) events += block.events.length;
}
await source.close();
await local.close();
const seconds = (performance.now() - startedMs) / 1000;
const { user, system } = process.cpuUsage();
const peakRssMb = process.resourceUsage().maxRSS / 1024;
console.log(JSON.stringify({ events, seconds, peakRssMb, cpuSeconds: (user + system) / 1e6 }));
