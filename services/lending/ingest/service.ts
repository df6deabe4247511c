import { evmEndpoints } from "../../shared/evm/endpoints.ts";
import { createEvmSource } from "../../shared/evm/source/source.ts";
import { hostsOf } from "../../shared/ingest/endpoint-monitor.ts";
import { createIngestMetrics, serveMetrics } from "../../shared/ingest/metrics.ts";
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
import { readRpcUrls } from "../../shared/settings/rpc-urls.ts";
import { readSettings } from "../../shared/settings/settings.ts";
import { openStore } from "../../shared/storage/open.ts";
import type { Store } from "../../shared/storage/port.ts";
import { type ChainDeployments, loadDeployments } from "../deployments.ts";
import { PROTOCOLS } from "../protocols/index.ts";
import type { LendingProtocol } from "../protocols/protocol.ts";
import { COLLECTIONS } from "../store/collections.ts";
import { type ChainMetrics, lendingMetrics } from "./metrics.ts";
import { runChain } from "./run-chain.ts";

const SETTINGS_READ = [
  "DATA_DIR",
  "MONGODB_URL",
  "LOG_LEVEL",
  "LOG_FORMAT",
  "LEASE_TTL_MS",
  "LENDING_REFRESH_SECONDS",
  "BIND_HOST",
  "INGEST_METRICS_PORT",
] as const;

interface ChainToRun {
  readonly chain: ChainDeployments;
  readonly urls: readonly string[];
}

/**
 * Starts indexing the lending protocols of every chain that has RPC endpoints; where the deployments name none of
 * them, it waits idle. Throws ConfigError where no chain has endpoints, and Error when the metrics' port is taken.
 */
export async function startIngest(
  env: Environment,
  protocols: readonly LendingProtocol[] = PROTOCOLS,
): Promise<Stoppable> {
  const [settings, { toRun, withoutSource }] = collectConfigErrors(
    () => readSettings(env, SETTINGS_READ),
    () => chainsToRun(env, protocols),
    () => rejectMisspeltSettings(env),
  );
  const log = createLog({ name: "lending-ingest", level: settings.LOG_LEVEL });
  if (toRun.length === 0)
    log.warn("the deployments have no lending protocol on the chains with RPC endpoints: nothing to do");
  await checkEndpoints(
    toRun.map(({ chain, urls }) => evmEndpoints(chain.chainId, urls)),
    { log },
  );
  const metrics = createIngestMetrics({ name: "lending-ingest" });
  const ofChain = lendingMetrics(metrics);
  const stopMetrics = await serveMetrics(metrics, {
    host: settings.BIND_HOST,
    port: settings.INGEST_METRICS_PORT,
  });
  const store = await openStore({
    service: "lending",
    dataDir: settings.DATA_DIR,
    ...(settings.MONGODB_URL !== undefined && { mongodbUrl: settings.MONGODB_URL }),
  });
  await store.declare([...COLLECTIONS, ingestStatus]);
  await storeMissingSource(store, { chainIds: withoutSource, log });
  const deps = {
    store,
    log,
    ttlMs: settings.LEASE_TTL_MS,
    refreshSeconds: settings.LENDING_REFRESH_SECONDS,
  };
  return runIngest({
    log,
    runs: toRun.map((each) => (signal) => {
      const { chainId, name } = each.chain;
      const reporter = createReporter({
        ...{ store, chainId, log: log.child({ chainId }), gauges: metrics.progress(chainId) },
        hosts: hostsOf(each.urls),
        words: { chain: `${name} lending`, discovered: "entities", blockNoun: "block", events: "entities" },
      });
      metrics.observe(chainId, reporter);
      return indexChain(each, { ...deps, metrics: ofChain(chainId), reporter, signal });
    }),
    async onStop() {
      await stopMetrics();
      await store.close();
    },
  });
}

function chainsToRun(
  env: Environment,
  protocols: readonly LendingProtocol[],
): { toRun: ChainToRun[]; withoutSource: number[] } {
  const [rpc, chains] = collectConfigErrors(
    () => readRpcUrls(env),
    () =>
      readNamedFile(env, { setting: "DEPLOYMENTS_FILE", load: (path) => loadDeployments(path, protocols) }),
  );
  if (rpc.size === 0) throw new ConfigError(["EVM_RPC_8453 or EVM_RPC_1 must name an RPC endpoint."]);
  const toRun = chains.flatMap((chain): ChainToRun[] => {
    const urls = rpc.get(chain.chainId);
    return urls === undefined || chain.protocols.length === 0 ? [] : [{ chain, urls }];
  });
  const withoutSource = chains.filter(({ chainId }) => !rpc.has(chainId)).map(({ chainId }) => chainId);
  return { toRun, withoutSource };
}

/** Indexes a chain whenever it holds the chain's lease. */
async function indexChain(
  { chain, urls }: ChainToRun,
  deps: {
    store: Store;
    log: Log;
    ttlMs: number;
    refreshSeconds: number;
    metrics: ChainMetrics;
    reporter: IngestReporter;
    signal: AbortSignal;
  },
): Promise<void> {
  const { store, ttlMs, refreshSeconds, metrics, reporter, signal } = deps;
  const { chainId } = chain;
  const log = deps.log.child({ chainId });
  const source = closeOnAbort(
    signal,
    createEvmSource({
      chainId,
      urls,
      log: (message, fields) => log.warn(fields, message),
      onEvent: metrics.onEvent,
    }),
  );
  try {
    const name = `lending-ingest-${chainId}`;
    const index = { name, parts: partsOfIndex(COLLECTIONS, chainId) };
    await runAsLeader({ store, name, ttlMs, log, signal }, (lead) =>
      reporter.publishDuring({ ...lead, readHead: source.head }, async () => {
        if (await finishReindex({ store, index, ...lead }))
          log.warn("a reindex that was cut short is finished");
        await runChain({ store, source, chain, refreshSeconds, metrics, reporter, log, ...lead });
      }),
    );
  } finally {
    await source.close();
  }
}
