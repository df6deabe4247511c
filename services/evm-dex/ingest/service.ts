import { limitFailureReports } from "../../shared/cache/failure-reports.ts";
import { openCache } from "../../shared/cache/open.ts";
import type { Cache } from "../../shared/cache/port.ts";
import { evmEndpoints } from "../../shared/evm/endpoints.ts";
import { createEvmSource } from "../../shared/evm/source/source.ts";
import { readInThread, type ThreadConfig } from "../../shared/evm/thread/thread.ts";
import { hostsOf } from "../../shared/ingest/endpoint-monitor.ts";
import { type ChainGauges, createIngestMetrics, serveMetrics } from "../../shared/ingest/metrics.ts";
import { finishReindex, partsOfIndex } from "../../shared/ingest/reindex.ts";
import { createReporter, type IngestReporter, storeMissingSource } from "../../shared/ingest/reporter.ts";
import { closeOnAbort, runAsLeader, runIngest } from "../../shared/ingest/run-ingest.ts";
import { ingestStatus } from "../../shared/ingest-status/status-row.ts";
import { createLog, type Log } from "../../shared/logging/log.ts";
import type { Stoppable } from "../../shared/process/process.ts";
import { checkEndpoints } from "../../shared/rpc-client/preflight.ts";
import {
  ConfigError,
  collectConfigErrors,
  type Environment,
  readNamedFile,
} from "../../shared/settings/env.ts";
import { rejectMisspeltSettings } from "../../shared/settings/misspelt-settings.ts";
import { readRpcUrls, readStartBlocks } from "../../shared/settings/rpc-urls.ts";
import { readSettings } from "../../shared/settings/settings.ts";
import { openStore } from "../../shared/storage/open.ts";
import type { Store } from "../../shared/storage/port.ts";
import { type ChainDeployments, loadDeployments } from "../deployments.ts";
import { COLLECTIONS } from "../store/collections.ts";
import { runChain } from "./run-chain.ts";

const CACHE_TIMEOUT_MS = 50;

const SETTINGS_READ = [
  "DATA_DIR",
  "MONGODB_URL",
  "REDIS_URL",
  "LOG_LEVEL",
  "LOG_FORMAT",
  "LEASE_TTL_MS",
  "QUIET_POOLS_PER_SECOND",
  "MAX_LOG_ADDRESSES",
  "BIND_HOST",
  "INGEST_METRICS_PORT",
] as const;

interface ChainToRun {
  readonly chain: ChainDeployments;
  readonly urls: readonly string[];
  readonly startBlock: number | undefined;
}

/** Starts indexing every chain that has RPC endpoints. Throws ConfigError where none has. */
export async function startIngest(env: Environment): Promise<Stoppable> {
  const [settings, { toRun, withoutSource }] = collectConfigErrors(
    () => readSettings(env, SETTINGS_READ),
    () => chainsToRun(env),
    () => rejectMisspeltSettings(env),
  );
  const log = createLog({ name: "evm-dex-ingest", level: settings.LOG_LEVEL });
  await checkEndpoints(
    toRun.map(({ chain, urls }) => evmEndpoints(chain.chainId, urls)),
    { log },
  );
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
  await store.declare([...COLLECTIONS, ingestStatus]);
  await storeMissingSource(store, { chainIds: withoutSource, log });
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
    runs: toRun.map((each) => (signal) => {
      const { chainId, name } = each.chain;
      const reporter = createReporter({
        ...{ store, chainId, log: log.child({ chainId }), gauges: metrics.progress(chainId) },
        hosts: hostsOf(each.urls),
        words: { chain: name, discovered: "pools", blockNoun: "block", events: "events" },
      });
      metrics.observe(chainId, reporter);
      return indexChain(each, { ...deps, gauges: metrics.chain(chainId), reporter, signal });
    }),
    async onStop() {
      await stopMetrics();
      await cache?.close();
      await store.close();
    },
  });
}

/** Redis, which is not waited for long: snapshots spare the services work, and must not cost the ingest its pace. */
function openSharedCache(redisUrl: string, log: Log): Promise<Cache> {
  const onFailure = limitFailureReports(({ failures, error }) =>
    log.warn({ err: error, failures }, "the cache fails; services read from the store"),
  );
  return openCache({ redisUrl, commandTimeoutMs: CACHE_TIMEOUT_MS, onFailure });
}

function chainsToRun(env: Environment): { toRun: ChainToRun[]; withoutSource: number[] } {
  const [startBlocks, rpc, chains] = collectConfigErrors(
    () => readStartBlocks(env),
    () => readRpcUrls(env),
    () => readNamedFile(env, { setting: "DEPLOYMENTS_FILE", load: loadDeployments }),
  );
  const toRun = chains.flatMap((chain): ChainToRun[] => {
    const urls = rpc.get(chain.chainId);
    return urls === undefined ? [] : [{ chain, urls, startBlock: startBlocks.get(chain.chainId) }];
  });
  if (toRun.length === 0) {
    throw new ConfigError([
      "EVM_RPC_8453 or EVM_RPC_1 must name an RPC endpoint of a chain in the deployments.",
    ]);
  }
  const withoutSource = chains.filter(({ chainId }) => !rpc.has(chainId)).map(({ chainId }) => chainId);
  return { toRun, withoutSource };
}

/** Indexes a chain whenever it holds the chain's lease. */
async function indexChain(
  { chain, urls, startBlock }: ChainToRun,
  deps: {
    store: Store;
    cache: Cache | undefined;
    log: Log;
    gauges: ChainGauges;
    reporter: IngestReporter;
    signal: AbortSignal;
    ttlMs: number;
    quietPerSecond: number;
    maxAddresses: number;
  },
): Promise<void> {
  const { store, cache, ttlMs, gauges, reporter, signal } = deps;
  const log = deps.log.child({ chainId: chain.chainId });
  const config: ThreadConfig = {
    chainId: chain.chainId,
    urls,
    log: (message, fields) => log.warn(fields, message),
    onEvent: gauges.onEvent,
  };
  const source = closeOnAbort(signal, createEvmSource(config));
  try {
    const name = `evm-dex-ingest-${chain.chainId}`;
    const index = { name, parts: partsOfIndex(COLLECTIONS, chain.chainId) };
    await runAsLeader({ store, name, ttlMs, log, signal }, (lead) =>
      reporter.publishDuring({ ...lead, readHead: source.head }, async () => {
        if (await finishReindex({ store, index, ...lead }))
          log.warn("a reindex that was cut short is finished");
        await runChain({
          store,
          source,
          openBulkSource: () => closeOnAbort(signal, readInThread(source, config)),
          chain,
          startBlock,
          inactivePoolsPerSecond: deps.quietPerSecond,
          maxAddresses: deps.maxAddresses,
          log,
          gauges,
          reporter,
          ...lead,
          ...(cache && { cache }),
        });
      }),
    );
  } finally {
    await source.close();
  }
}
