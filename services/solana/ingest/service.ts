import { createSolanaSource } from "../../shared/chain/solana/source.ts";
import { readSettings } from "../../shared/host/config.ts";
import type { Environment } from "../../shared/host/env.ts";
import { createIngestMetrics, serveMetrics } from "../../shared/host/ingest-metrics.ts";
import { createLog, type Log } from "../../shared/host/log.ts";
import type { Stoppable } from "../../shared/host/process.ts";
import { finishReindex, partsOfIndex } from "../../shared/host/reindex.ts";
import { leadAndRun, runIngest } from "../../shared/host/run-ingest.ts";
import { openStore } from "../../shared/storage/open.ts";
import type { Store } from "../../shared/storage/port.ts";
import { COLLECTIONS } from "../store/collections.ts";
import { type SolanaIngestMetrics, solanaMetrics } from "./metrics.ts";
import { readInThread } from "./read/reader.ts";
import { runSolana } from "./run.ts";

/**
 * Starts indexing Solana; where no RPC endpoint is configured it waits idle, so that an installation can do without.
 * Throws ConfigError, and Error when the metrics' port is taken.
 */
export async function startIngest(env: Environment): Promise<Stoppable> {
  const settings = readSettings(env, [
    "DATA_DIR",
    "MONGODB_URL",
    "LOG_LEVEL",
    "LEASE_TTL_MS",
    "SOLANA_RPC",
    "START_BLOCK_SOLANA",
    "SOLANA_RAW_DAYS",
    "BIND_HOST",
    "INGEST_METRICS_PORT",
  ]);
  const { SOLANA_RPC: urls, MONGODB_URL: mongodbUrl } = settings;
  const log = createLog({ name: "solana-ingest", level: settings.LOG_LEVEL });
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
  await store.declare(COLLECTIONS);
  if (urls === undefined) log.warn("SOLANA_RPC names no RPC endpoint: Solana is not indexed");
  const deps = { store, log, metrics, settings };
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
    settings: { LEASE_TTL_MS: number; START_BLOCK_SOLANA: number | undefined; SOLANA_RAW_DAYS: number };
    signal: AbortSignal;
  },
): Promise<void> {
  const { store, log, metrics, settings, signal } = deps;
  const config = {
    urls,
    log: (message: string, fields: Readonly<Record<string, unknown>>) => log.warn(fields, message),
    onEvent: metrics.onEvent,
  };
  const source = createSolanaSource(config);
  const reader = readInThread(source, config);
  try {
    const name = "solana-ingest";
    const index = { name, parts: partsOfIndex(COLLECTIONS, undefined) };
    await leadAndRun({ store, name, ttlMs: settings.LEASE_TTL_MS, log, signal }, async (lead) => {
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
        log,
        ...lead,
      });
    });
  } finally {
    await reader.close();
    await source.close();
  }
}
