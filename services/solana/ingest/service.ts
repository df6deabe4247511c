import { hostsOf } from "../../shared/ingest/endpoint-monitor.ts";
import { createIngestMetrics, serveMetrics } from "../../shared/ingest/metrics.ts";
import { finishReindex, partsOfIndex } from "../../shared/ingest/reindex.ts";
import { createReporter, type IngestReporter, storeMissingSource } from "../../shared/ingest/reporter.ts";
import { closeOnAbort, runAsLeader, runIngest } from "../../shared/ingest/run-ingest.ts";
import { ingestStatus } from "../../shared/ingest-status/status-row.ts";
import { createLog, type Log } from "../../shared/logging/log.ts";
import type { Stoppable } from "../../shared/process/process.ts";
import { checkEndpoints } from "../../shared/rpc-client/preflight.ts";
import { collectConfigErrors, type Environment } from "../../shared/settings/env.ts";
import { rejectMisspeltSettings } from "../../shared/settings/misspelt-settings.ts";
import { readSolanaUrls } from "../../shared/settings/rpc-urls.ts";
import { readSettings } from "../../shared/settings/settings.ts";
import { openStore } from "../../shared/storage/open.ts";
import type { Store } from "../../shared/storage/port.ts";
import { solanaEndpoints } from "../chain/endpoints.ts";
import { createSolanaSource } from "../chain/source.ts";
import { COLLECTIONS } from "../store/collections.ts";
import { CHAIN_ID } from "../store/queries.ts";
import { type SolanaIngestMetrics, solanaMetrics } from "./metrics.ts";
import { createThreadedReader } from "./read/reader.ts";
import { runSolana } from "./run.ts";

const SETTINGS_READ = [
  "DATA_DIR",
  "MONGODB_URL",
  "LOG_LEVEL",
  "LOG_FORMAT",
  "LEASE_TTL_MS",
  "START_BLOCK_SOLANA",
  "SOLANA_RAW_DAYS",
  "BIND_HOST",
  "INGEST_METRICS_PORT",
] as const;

/**
 * Starts indexing Solana; where no RPC endpoint is configured it waits idle, so that an installation can do without.
 * Throws ConfigError, and Error when the metrics' port is taken.
 */
export async function startIngest(env: Environment): Promise<Stoppable> {
  const [settings, urls] = collectConfigErrors(
    () => readSettings(env, SETTINGS_READ),
    () => readSolanaUrls(env),
    () => rejectMisspeltSettings(env),
  );
  const { MONGODB_URL: mongodbUrl } = settings;
  const log = createLog({ name: "solana-ingest", level: settings.LOG_LEVEL });
  await checkEndpoints(urls === undefined ? [] : [solanaEndpoints(urls)], { log });
  const registry = createIngestMetrics({ name: "solana-ingest" });
  const metrics = solanaMetrics(registry, (message, fields) => log.warn(fields, message));
  const stopMetrics = await serveMetrics(registry, {
    host: settings.BIND_HOST,
    port: settings.INGEST_METRICS_PORT,
  });
  const store = await openStore({
    service: "solana",
    dataDir: settings.DATA_DIR,
    // What it reads it has just written, and finds in its own cache.
    mappedBytes: 0,
    ...(mongodbUrl !== undefined && { mongodbUrl }),
  });
  await store.declare([...COLLECTIONS, ingestStatus]);
  if (urls === undefined) {
    log.warn("SOLANA_RPC names no RPC endpoint: Solana is not indexed");
    await storeMissingSource(store, { chainIds: [CHAIN_ID], log });
  }
  const reporter = createReporter({
    ...{ store, chainId: CHAIN_ID, log, gauges: registry.progress("solana") },
    hosts: hostsOf(urls ?? []),
    words: { chain: "Solana", discovered: "tokens", blockNoun: "slot", events: "rows" },
  });
  registry.observe("solana", reporter);
  const deps = { store, log, metrics, reporter, settings };
  return runIngest({
    log,
    runs: urls === undefined ? [] : [(signal) => index(urls, { ...deps, signal })],
    async onStop() {
      await stopMetrics();
      await store.close();
    },
  });
}

/** Indexes whenever it holds the lease. */
async function index(
  urls: readonly string[],
  deps: {
    store: Store;
    log: Log;
    metrics: SolanaIngestMetrics;
    reporter: IngestReporter;
    settings: { LEASE_TTL_MS: number; START_BLOCK_SOLANA: number | undefined; SOLANA_RAW_DAYS: number };
    signal: AbortSignal;
  },
): Promise<void> {
  const { store, log, metrics, reporter, settings, signal } = deps;
  const config = {
    urls,
    log: (message: string, fields: Readonly<Record<string, unknown>>) => log.warn(fields, message),
    onEvent: metrics.onEvent,
  };
  const source = closeOnAbort(signal, createSolanaSource(config));
  const reader = closeOnAbort(signal, createThreadedReader(source, config));
  try {
    const lease = { store, name: "solana-ingest", ttlMs: settings.LEASE_TTL_MS, log, signal };
    const index = { name: lease.name, parts: partsOfIndex(COLLECTIONS, undefined) };
    const readHead = async () => ({ number: (await source.head("confirmed")).slot });
    await runAsLeader(lease, (lead) =>
      reporter.publishDuring({ ...lead, readHead }, async () => {
        if (await finishReindex({ store, index, ...lead }))
          log.warn("a reindex that was cut short is finished");
        await runSolana({
          store,
          source,
          reader,
          startSlot: settings.START_BLOCK_SOLANA,
          rawDays: settings.SOLANA_RAW_DAYS,
          watchers: [metrics],
          onHead: metrics.onHead,
          reporter,
          log,
          ...lead,
        });
      }),
    );
  } finally {
    await reader.close();
    await source.close();
  }
}
