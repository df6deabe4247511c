/** The yardstick of bench:ingest: the same fetch and decode as the ingest, into nothing. Arguments: URL, deployments file, head. */
import { loadDeployments } from "../services/evm-dex/deployments.ts";
import { EVENT_FILTER, Fetcher } from "../services/evm-dex/ingest/fetch.ts";
import { mapAhead } from "../services/evm-dex/ingest/map-ahead.ts";
import { scanLogs } from "../services/shared/chain/evm/scan.ts";
import { createEvmSource } from "../services/shared/chain/evm/source.ts";

const [url = "", deploymentsFile = "", head = "0"] = process.argv.slice(2);
const startedMs = performance.now();
const source = createEvmSource({ chainId: 8453, urls: [url] });
const factories = loadDeployments(deploymentsFile)[0]?.factories ?? [];
const fetcher = new Fetcher(source, { factories, isKnown: () => false });
const scan = scanLogs(source, { fromBlock: 0, toBlock: Number(head), filter: EVENT_FILTER, initialRange: 500, maxRange: 5_000, concurrency: 3 });
let events = 0;
for await (const chunk of mapAhead(scan, ({ range, logs }) => fetcher.readSettled(range, logs), 2)) {
  for (const block of chunk.blocks) events += block.events.length;
}
await source.close();
const seconds = (performance.now() - startedMs) / 1000;
console.log(JSON.stringify({ events, seconds, peakRssMb: process.resourceUsage().maxRSS / 1024 }));
