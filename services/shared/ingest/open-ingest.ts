import type { ProgressLabels } from "../ingest-status/progress-line.ts";
import { ingestStatus } from "../ingest-status/status-row.ts";
import { createLog, type Log } from "../logging/log.ts";
import type { Stoppable } from "../process/process.ts";
import { type ChainEndpoints, checkEndpoints } from "../rpc-client/preflight.ts";
import type { readSettings, ServiceName } from "../settings/settings.ts";
import type { Collection } from "../storage/collection.ts";
import { type FileOptions, openStore } from "../storage/open.ts";
import type { Store } from "../storage/port.ts";
import { hostsOf } from "./endpoint-monitor.ts";
import { openLiveChannel } from "./live-notice.ts";
import { createIngestMetrics, type IngestMetrics, serveMetrics } from "./metrics.ts";
import { finishReindex, partsOfIndex } from "./reindex.ts";
import { createReporter, type IngestReporter, type PublishOptions, storeMissingSource } from "./reporter.ts";
import { type Leadership, runAsLeader, runIngest } from "./run-ingest.ts";

/** Settings of every ingest. */
export const INGEST_SETTINGS = [
  "DATA_DIR",
  "MONGODB_URL",
  "LOG_LEVEL",
  "LOG_FORMAT",
  "LEASE_TTL_MS",
  "BIND_HOST",
  "INGEST_METRICS_PORT",
] as const;

export interface IngestOptions extends FileOptions {
  readonly service: ServiceName;
  readonly settings: ReturnType<typeof readSettings<(typeof INGEST_SETTINGS)[number]>>;
  /** RPC endpoints of each chain. */
  readonly endpoints: readonly ChainEndpoints[];
  /** Chains without an RPC endpoint. */
  readonly missingSources: readonly number[];
  readonly collections: readonly Collection[];
}

/** What the runs of an ingest process have in common. */
export interface Ingest {
  readonly log: Log;
  readonly metrics: IngestMetrics;
  readonly store: Store;
  /** Runs side by side until the process stops, then calls `onStop` and closes the rest. */
  run(runs: readonly ((signal: AbortSignal) => Promise<void>)[], onStop?: () => Promise<void>): Stoppable;
  /** The reporter of one chain, which observes its metrics. */
  createReporter(chain: ReportedChain): IngestReporter;
  /**
   * Runs `work` whenever this process holds the lease of the chain's index, after a reindex that was interrupted. The
   * reporter publishes meanwhile.
   */
  runAsLeader(context: LeaderContext, work: (lead: Leadership) => Promise<void>): Promise<void>;
}

export interface ReportedChain {
  readonly chainId: number;
  /** Of its metrics; default its id. */
  readonly label?: string;
  readonly log: Log;
  readonly urls: readonly string[];
  readonly labels: ProgressLabels;
}

export interface LeaderContext extends Pick<PublishOptions, "readHead"> {
  /** Absent where the store holds one chain alone. */
  readonly chainId?: number;
  readonly log: Log;
  readonly reporter: IngestReporter;
  readonly signal: AbortSignal;
}

/**
 * Checks the endpoints, serves metrics and opens the store. Throws ConfigError, and Error where the metrics' port is
 * taken.
 */
export async function openIngest(options: IngestOptions): Promise<Ingest> {
  const { service, settings, endpoints, missingSources, collections, ...file } = options;
  const { DATA_DIR: dataDir, MONGODB_URL: mongodbUrl, LEASE_TTL_MS: ttlMs } = settings;
  const name = `${service}-ingest`;
  const log = createLog({ name, level: settings.LOG_LEVEL });
  await checkEndpoints(endpoints, { log });
  const metrics = createIngestMetrics({ name });
  const stopMetrics = await serveMetrics(metrics, {
    host: settings.BIND_HOST,
    port: settings.INGEST_METRICS_PORT,
  });
  const store = await openStore({
    service,
    dataDir,
    ...file,
    ...(mongodbUrl !== undefined && { mongodbUrl }),
  });
  metrics.measureStore(store);
  await store.declare([...collections, ingestStatus]);
  await storeMissingSource(store, { chainIds: missingSources, log });
  return {
    log,
    metrics,
    store,
    run: (runs, onStop) =>
      runIngest({
        log,
        runs,
        async onStop() {
          await stopMetrics();
          await onStop?.();
          await store.close();
        },
      }),
    createReporter({ chainId, label = String(chainId), urls, labels, log }) {
      const gauges = metrics.progress(label);
      const hosts = hostsOf(urls);
      const tellLive = openLiveChannel();
      const reporter = createReporter({ store, chainId, log, gauges, hosts, words: labels, tellLive });
      metrics.observe(label, reporter);
      return reporter;
    },
    async runAsLeader({ chainId, log, reporter, readHead, signal }, work) {
      const leaseName = chainId === undefined ? name : `${name}-${chainId}`;
      const index = { name: leaseName, parts: partsOfIndex(collections, chainId) };
      const onChange = metrics.leadership(leaseName, chainId ?? service);
      await runAsLeader({ store, name: leaseName, ttlMs, log, signal, onChange }, (lead) =>
        reporter.publishDuring({ ...lead, readHead }, async () => {
          if (await finishReindex({ store, index, ...lead }))
            log.warn("a reindex that was cut short is finished");
          await work(lead);
        }),
      );
    },
  };
}
