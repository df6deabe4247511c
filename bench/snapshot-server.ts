/**
 * For snapshot.bench.ts: the evm-dex endpoints over one store, once for each place a single pool's row can come from,
 * each on a port of its own and all in this process. Logs one line that names the addresses.
 */
import { endpoints } from "../services/evm-dex/contract.ts";
import { createHandlers } from "../services/evm-dex/handlers.ts";
import type { ServeDeps } from "../services/evm-dex/serve/deps.ts";
import { watchHeads } from "../services/evm-dex/serve/heads.ts";
import { PoolReader } from "../services/evm-dex/serve/pool/pool-reader.ts";
import { COLLECTIONS } from "../services/evm-dex/store/collections.ts";
import { openCache } from "../services/shared/cache/open.ts";
import { createHttpServer, listen } from "../services/shared/http/server.ts";
import { createLog } from "../services/shared/logging/log.ts";
import { createMetrics } from "../services/shared/metrics/metrics.ts";
import { createServiceApp } from "../services/shared/service/service-app.ts";
import { openStore } from "../services/shared/storage/open.ts";
import { POOL } from "./synthetic/year.ts";

const { DATA_DIR = "", REDIS_URL } = process.env;
const store = await openStore({ service: "evm-dex", dataDir: DATA_DIR });
await store.declare(COLLECTIONS);
const heads = watchHeads(store, { chainIds: [POOL.chainId] });
const blind = { current: () => undefined, observe: () => {} };

/** A reader without a memory: each row comes from Redis as long as the ingest has put it there. */
async function fromRedis(redisUrl: string): Promise<ServeDeps["pools"]> {
  const cache = await openCache({ redisUrl, commandTimeoutMs: 20 });
  return { readAsOf: (view, key, at) => new PoolReader({ store, heads, cache }).readAsOf(view, key, at) };
}

const readers: Record<string, ServeDeps["pools"]> = {
  store: new PoolReader({ store, heads: blind }),
  ...(REDIS_URL !== undefined && { Redis: await fromRedis(REDIS_URL) }),
  memory: new PoolReader({ store, heads }),
};
const urls: Record<string, string> = {};
for (const [name, pools] of Object.entries(readers)) {
  const app = createServiceApp({
    endpoints,
    handlers: createHandlers({
      ...{ store, chains: [], pools },
      ...{ v2Tables: new Map(), wallets: { request: () => {} } },
    }),
    log: createLog({ name: "bench", level: "silent" }),
    metrics: createMetrics({ name: "evm-dex" }),
    deadlineMs: 10_000,
    readiness: async () => ({ ready: true }),
  });
  const port = await listen(createHttpServer(app), { host: "127.0.0.1", port: 0 });
  urls[name] = `http://127.0.0.1:${port}`;
}
console.log(JSON.stringify({ msg: "listening", httpUrl: urls.store, grpcAddress: "", urls }));
