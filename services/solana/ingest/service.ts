import { INGEST_SETTINGS, type Ingest, openIngest } from "../../shared/ingest/open-ingest.ts";
import { closeOnAbort } from "../../shared/ingest/run-ingest.ts";
import type { ProgressLabels } from "../../shared/ingest-status/progress-line.ts";
import { createPaces } from "../../shared/portal/pace.ts";
import type { Stoppable } from "../../shared/process/process.ts";
import { collectConfigErrors, type Environment } from "../../shared/settings/env.ts";
import { rejectMisspeltSettings } from "../../shared/settings/misspelt-settings.ts";
import { readSolanaStream, readSolanaUrls } from "../../shared/settings/rpc-urls.ts";
import { readSettings } from "../../shared/settings/settings.ts";
import { solanaEndpoints } from "../chain/endpoints.ts";
import { createSolanaSource } from "../chain/source.ts";
import { COLLECTIONS } from "../store/collections.ts";
import { type KeptRows, readKeptRows } from "../store/kept-rows.ts";
import { CHAIN_ID } from "../store/queries.ts";
import { type SolanaIngestMetrics, solanaMetrics } from "./metrics.ts";
import type { PortalTask } from "./read/portal-reader.ts";
import { createThreadedReader } from "./read/reader.ts";
import type { StreamTask } from "./read/stream-task.ts";
import { followStreamedHead } from "./read/streamed-head.ts";
import { runSolana } from "./run.ts";

const SETTINGS_READ = [
  ...INGEST_SETTINGS,
  "START_BLOCK_SOLANA",
  "SOLANA_RAW_DAYS",
  "SOLANA_HOLDERS",
  "SOLANA_PORTAL",
  "PORTAL_REQUESTS_PER_SECOND",
] as const;

/**
 * Starts indexing Solana; where no RPC endpoint is configured it waits idle, so that an installation can do without.
 * Throws ConfigError, and Error when the metrics' port is taken.
 */
export async function startIngest(env: Environment): Promise<Stoppable> {
  const [settings, urls, endpoint, kept] = collectConfigErrors(
    () => readSettings(env, SETTINGS_READ),
    () => readSolanaUrls(env),
    () => readSolanaStream(env),
    () => readKeptRows(env),
    () => rejectMisspeltSettings(env),
  );
  const ingest = await openIngest({
    service: "solana",
    settings,
    endpoints: urls === undefined ? [] : [solanaEndpoints(urls)],
    missingSources: urls === undefined ? [CHAIN_ID] : [],
    collections: COLLECTIONS,
    // The ingest reads what it has just written, and finds it in its own cache.
    mappedBytes: 0,
  });
  const { log } = ingest;
  const metrics = solanaMetrics(ingest.metrics, (message, fields) => log.warn(fields, message));
  if (urls === undefined) {
    log.warn("SOLANA_RPC names no RPC endpoint: Solana is not indexed");
    return ingest.run([]);
  }
  const { SOLANA_PORTAL: portalUrl, PORTAL_REQUESTS_PER_SECOND: portalPace } = settings;
  const withHolders = settings.SOLANA_HOLDERS === "on";
  const options = {
    metrics,
    kept,
    withHolders,
    stream: endpoint && { endpoint, withHolders },
    portal:
      portalUrl === undefined
        ? undefined
        : { url: portalUrl, withHolders, ...createPaces(portalPace)(portalUrl) },
    startSlot: settings.START_BLOCK_SOLANA,
    rawDays: settings.SOLANA_RAW_DAYS,
  };
  return ingest.run([(signal) => index(ingest, urls, { ...options, signal })]);
}

/** Indexes whenever this process holds the lease. */
async function index(
  ingest: Ingest,
  urls: readonly string[],
  options: {
    metrics: SolanaIngestMetrics;
    startSlot: number | undefined;
    rawDays: number;
    kept: KeptRows;
    withHolders: boolean;
    stream: StreamTask | undefined;
    portal: PortalTask | undefined;
    signal: AbortSignal;
  },
): Promise<void> {
  const { metrics, startSlot, rawDays, kept, withHolders, stream, portal, signal } = options;
  const { store, log } = ingest;
  const labels: ProgressLabels = { chain: "Solana", discovered: "tokens", blockNoun: "slot", events: "rows" };
  const reporter = ingest.createReporter({ chainId: CHAIN_ID, label: "solana", log, urls, labels });
  const config = {
    urls,
    log: (message: string, fields: Readonly<Record<string, unknown>>) => log.warn(fields, message),
    onEvent: metrics.onEvent,
  };
  const live = createSolanaSource(config);
  const { source: followed, onState } = followStreamedHead(live);
  const source = closeOnAbort(signal, stream === undefined ? live : followed);
  const reading = { ...config, withHolders, stream, portal, onStream: onState };
  const reader = closeOnAbort(signal, createThreadedReader(source, reading));
  try {
    const readHead = async () => ({ number: (await source.head("confirmed")).slot });
    await ingest.runAsLeader({ log, reporter, signal, readHead }, (lead) =>
      runSolana({
        store,
        source,
        reader,
        startSlot,
        withHolders,
        kept,
        rawDays,
        watchers: [metrics],
        onHead: metrics.onHead,
        onRetentionFinished: metrics.onRetentionFinished,
        reporter,
        log,
        ...lead,
      }),
    );
  } finally {
    await reader.close();
    await source.close();
  }
}
