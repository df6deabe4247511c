/**
 * npm run bench:snapshot — one pool read over HTTP, computed from the store against a snapshot of it, in one run: from
 * Redis (where redis-server is on PATH) and from the service's memory. Blocks come as on Base meanwhile, so that some
 * reads of either find a new head. The store has BENCH_SWAPS swaps. The first line is a response without any row: what
 * HTTP and the machine take by themselves.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { Agent, get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dexbPool } from "../services/evm-dex/contract.ts";
import { SnapshotWriter } from "../services/evm-dex/ingest/snapshots/snapshot-writer.ts";
import { COLLECTIONS, checkpoints } from "../services/evm-dex/store/collections.ts";
import { getCheckpoint } from "../services/evm-dex/store/queries.ts";
import { SQLITE_FILE } from "../services/evm-dex/store/sqlite-file.ts";
import { openCache } from "../services/shared/cache/open.ts";
import { openStore } from "../services/shared/storage/open.ts";
import { put } from "../services/shared/storage/port.ts";
import { type Figure, recordFigures } from "../services/shared/testkit/bench-record.ts";
import { createRedisServer, noRedisServer } from "../services/shared/testkit/redis-server.ts";
import { type ServiceProcess, startServiceProcess } from "../services/shared/testkit/service-process.ts";
import { quantile } from "./stats.ts";
import { POOL, writeSyntheticYear } from "./synthetic/year.ts";

const SWAPS = Number(process.env.BENCH_SWAPS ?? 200_000);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 4_000);
const WARM_UP = 200;
const BLOCK_MS = 2_000;
const MAX_P99_MS = 10;
const QUERY = `pool_address=${POOL.poolAddress}`;

const dataDir = await mkdtemp(join(tmpdir(), "chaintables-snapshot-"));
const noRedis = noRedisServer();
const redis = noRedis === undefined ? await createRedisServer() : undefined;
const agent = new Agent({ keepAlive: true, maxSockets: 16 });
let service: ServiceProcess | undefined;
let mining: NodeJS.Timeout | undefined;
try {
  await redis?.start();
  const store = await openStore({ service: "evm-dex", dataDir, ...SQLITE_FILE });
  await store.declare(COLLECTIONS);
  const startedMs = performance.now();
  await writeSyntheticYear(store, { swaps: SWAPS });
  console.log(`${SWAPS} swaps written in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
  if (noRedis !== undefined) console.log(`without Redis: ${noRedis}`);
  const cache = redis && (await openCache({ redisUrl: redis.url }));
  const log = { debug: () => {}, warn: console.error };
  const writer = cache && new SnapshotWriter({ store, cache, log, signal: new AbortController().signal });
  const head = await getCheckpoint(store, POOL.chainId);
  if (head === undefined) throw new Error("The synthetic year has no head.");
  let moved = 0;
  const mine = async (): Promise<void> => {
    const number = head.blockNumber + ++moved;
    const checkpoint = {
      ...head,
      blockNumber: number,
      blockHash: `0x${number}`,
      blockTime: head.blockTime + 2 * moved,
    };
    await store.write([put(checkpoints, [checkpoint])]);
    await writer?.onHead({ checkpoint, touched: [POOL] });
  };
  service = await startServiceProcess(new URL("./snapshot-server.ts", import.meta.url), {
    DATA_DIR: dataDir,
    REDIS_URL: redis?.url,
  });
  const { urls: origins } = service.entries[0] as unknown as { urls: Record<string, string> };
  const urls: Record<string, string> = { nowhere: `${origins.store}/evm/chains` };
  for (const [name, origin] of Object.entries(origins)) urls[name] = `${origin}${dexbPool.path}?${QUERY}`;
  mining = setInterval(() => void mine(), BLOCK_MS);
  console.log(
    `\n${"row from".padEnd(10)} ${"connections".padStart(11)} ${"p50 ms".padStart(8)} ${"p99 ms".padStart(8)}`,
  );
  let isReached = true;
  const figures: Figure[] = [];
  for (const connections of [1, 8]) {
    const times = await measure(urls, connections);
    for (const [name, list] of times) {
      const p99 = quantile(list, 0.99);
      console.log(
        `${name.padEnd(10)} ${String(connections).padStart(11)} ${quantile(list, 0.5).toFixed(3).padStart(8)} ${p99.toFixed(3).padStart(8)}`,
      );
      if (connections === 1) {
        const what = `one pool over HTTP, ${name === "nowhere" ? "an answer without rows" : `row from ${name}`}`;
        figures.push(
          { name: `${what}, median`, value: quantile(list, 0.5), unit: "ms" },
          { name: `${what}, 99th percentile`, value: p99, unit: "ms", goal: { atMost: MAX_P99_MS } },
        );
      }
      if (connections === 1 && p99 > MAX_P99_MS) isReached = false;
    }
  }
  clearInterval(mining);
  recordFigures("snapshot", figures);
  console.log(`${moved} blocks came meanwhile; p99 under ${MAX_P99_MS} ms over one connection`);
  await cache?.close();
  await store.close();
  if (!isReached) {
    console.error("bench:snapshot: not reached");
    process.exitCode = 1;
  }
} finally {
  clearInterval(mining);
  agent.destroy();
  await service?.stop();
  await redis?.remove();
  await rm(dataDir, { recursive: true, force: true });
}

/** Milliseconds of each request, by where its row comes from; turn about, so that a slow moment meets all. */
async function measure(urls: Record<string, string>, connections: number): Promise<Map<string, number[]>> {
  const times = new Map<string, number[]>(Object.keys(urls).map((name) => [name, []]));
  for (let round = -WARM_UP; round < ROUNDS; round += connections) {
    for (const [name, url] of Object.entries(urls)) {
      const list = await Promise.all(Array.from({ length: connections }, () => timeRead(url)));
      if (round >= 0) times.get(name)?.push(...list);
    }
  }
  return times;
}

function timeRead(url: string): Promise<number> {
  const startedMs = performance.now();
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      response
        .on("data", () => {})
        .on("end", () => {
          if (response.statusCode !== 200) reject(new Error(`${url} answered ${response.statusCode}`));
          else resolve(performance.now() - startedMs);
        });
    }).on("error", reject);
  });
}
