import { openCache } from "../../shared/cache/open.ts";
import { outages } from "../../shared/cache/outage.ts";
import type { Cache } from "../../shared/cache/port.ts";
import { createEvmSource } from "../../shared/chain/evm/source.ts";
import { readInThread, type ThreadConfig } from "../../shared/chain/evm/thread.ts";
import { readSettings } from "../../shared/host/config.ts";
import { ConfigError, type Environment } from "../../shared/host/env.ts";
import { type ChainGauges, createIngestMetrics, serveMetrics } from "../../shared/host/ingest-metrics.ts";
import { createLog, type Log } from "../../shared/host/log.ts";
import type { Stoppable } from "../../shared/host/process.ts";
import { finishReindex, partsOfIndex } from "../../shared/host/reindex.ts";
import { readRpcUrls } from "../../shared/host/rpc-urls.ts";
import { leadAndRun, runIngest } from "../../shared/host/run-ingest.ts";
import { openStore } from "../../shared/storage/open.ts";
import type { Store } from "../../shared/storage/port.ts";
import { type ChainDeployments, loadDeployments } from "../deployments.ts";
import { COLLECTIONS } from "../store/collections.ts";
import { runChain } from "./run-chain.ts";

const CACHE_TIMEOUT_MS = 50;

interface ChainToRun {
  readonly chain: ChainDeployments;
  readonly urls: readonly string[];
  readonly startBlock: number | undefined;
}

/** Starts indexing every chain that has RPC endpoints. Throws ConfigError where none has. */
export async function startIngest(env: Environment): Promise<Stoppable> {
  const settings = readSettings(env, [
    "DATA_DIR",
    "MONGODB_URL",
    "REDIS_URL",
    "LOG_LEVEL",
    "LEASE_TTL_MS",
    "QUIET_POOLS_PER_SECOND",
    "MAX_LOG_ADDRESSES",
    "BIND_HOST",
    "INGEST_METRICS_PORT",
  ]);
  const toRun = chainsToRun(env);
  const log = createLog({ name: "evm-dex-ingest", level: settings.LOG_LEVEL });
  const metrics = createIngestMetrics({ name: "evm-dex-ingest" });
  const stopMetrics = await serveMetrics(metrics, {
    host: settings.BIND_HOST,
    port: settings.INGEST_METRICS_PORT,
  });
  const store = await openStore({
    service: "evm-dex",
    dataDir: settings.DATA_DIR,
    ...(settings.MONGODB_URL !== undefined && { mongodbUrl: settings.MONGODB_URL }),
  });
  await store.declare(COLLECTIONS);
  const cache = settings.REDIS_URL === undefined ? undefined : await openSharedCache(settings.REDIS_URL, log);
  const deps = {
    store,
    cache,
    log,
    ttlMs: settings.LEASE_TTL_MS,
    quietPerSecond: settings.QUIET_POOLS_PER_SECOND,
    maxAddresses: settings.MAX_LOG_ADDRESSES,
  };
  return runIngest({
    log,
    runs: toRun.map(
      (each) => (signal) => indexChain(each, { ...deps, gauges: metrics.chain(each.chain.chainId), signal }),
    ),
    async onStop() {
      await stopMetrics();
      await cache?.close();
      await store.close();
    },
  });
}

/** Redis, which is not waited for long: snapshots spare the services work, and must not cost the ingest its pace. */
function openSharedCache(redisUrl: string, log: Log): Promise<Cache> {
  const onFailure = outages(({ failures, error }) =>
    log.warn({ err: error, failures }, "the cache fails; services read from the store"),
  );
  return openCache({ redisUrl, commandTimeoutMs: CACHE_TIMEOUT_MS, onFailure });
}

function chainsToRun(env: Environment): ChainToRun[] {
  const settings = readSettings(env, ["DEPLOYMENTS_FILE", "START_BLOCK_8453", "START_BLOCK_1"]);
  const rpc = readRpcUrls(env);
  const start: Record<number, number | undefined> = {
    1: settings.START_BLOCK_1,
    8453: settings.START_BLOCK_8453,
  };
  const toRun = loadDeployments(settings.DEPLOYMENTS_FILE).flatMap((chain): ChainToRun[] => {
    const urls = rpc.get(chain.chainId);
    return urls === undefined ? [] : [{ chain, urls, startBlock: start[chain.chainId] }];
  });
  if (toRun.length === 0) {
    throw new ConfigError([
      "EVM_RPC_8453 or EVM_RPC_1 must name an RPC endpoint of a chain in the deployments.",
    ]);
  }
  return toRun;
}

/** Indexes a chain whenever it holds the chain's lease. */
async function indexChain(
  of: ChainToRun,
  deps: {
    store: Store;
    cache: Cache | undefined;
    log: Log;
    gauges: ChainGauges;
    signal: AbortSignal;
    ttlMs: number;
    quietPerSecond: number;
    maxAddresses: number;
  },
): Promise<void> {
  const { chain, urls, startBlock } = of;
  const { store, cache, ttlMs, gauges, signal } = deps;
  const log = deps.log.child({ chainId: chain.chainId });
  const config: ThreadConfig = {
    chainId: chain.chainId,
    urls,
    log: (message, fields) => log.warn(fields, message),
    onEvent: gauges.onEvent,
  };
  const source = createEvmSource(config);
  try {
    const name = `evm-dex-ingest-${chain.chainId}`;
    const index = { name, parts: partsOfIndex(COLLECTIONS, chain.chainId) };
    await leadAndRun({ store, name, ttlMs, log, signal }, async (lead) => {
      if (await finishReindex({ store, index, ...lead }))
        log.warn("a reindex that was cut short is finished");
      await runChain({
        store,
        source,
        openBulkSource: () => readInThread(source, config),
        chain,
        startBlock,
        quietPerSecond: deps.quietPerSecond,
        maxAddresses: deps.maxAddresses,
        log,
        gauges,
        ...lead,
        ...(cache && { cache }),
      });
    });
  } finally {
    await source.close();
  }
}
