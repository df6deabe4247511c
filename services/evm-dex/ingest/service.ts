import { limitFailureReports } from "../../shared/cache/failure-reports.ts";
import { openCache } from "../../shared/cache/open.ts";
import type { Cache } from "../../shared/cache/port.ts";
import { evmEndpoints } from "../../shared/evm/endpoints.ts";
import { watchHeads } from "../../shared/evm/head-watch/watched-source.ts";
import { withPortal } from "../../shared/evm/portal/with-portal.ts";
import { createEvmSource } from "../../shared/evm/source/source.ts";
import { readInThread, type ThreadConfig } from "../../shared/evm/thread/thread.ts";
import { INGEST_SETTINGS, type Ingest, openIngest } from "../../shared/ingest/open-ingest.ts";
import { closeOnAbort } from "../../shared/ingest/run-ingest.ts";
import type { ProgressLabels } from "../../shared/ingest-status/progress-line.ts";
import type { Log } from "../../shared/logging/log.ts";
import { createPaces, type PaceOf } from "../../shared/portal/pace.ts";
import type { Stoppable } from "../../shared/process/process.ts";
import {
  ConfigError,
  collectConfigErrors,
  type Environment,
  readNamedFile,
} from "../../shared/settings/env.ts";
import { ensureWritableFolder } from "../../shared/settings/folder.ts";
import { rejectMisspeltSettings } from "../../shared/settings/misspelt-settings.ts";
import { readPortalUrls, readRpcUrls, readStartBlocks } from "../../shared/settings/rpc-urls.ts";
import { readSettings } from "../../shared/settings/settings.ts";
import { type ChainDeployments, loadDeployments } from "../deployments.ts";
import { COLLECTIONS } from "../store/collections.ts";
import { SQLITE_FILE } from "../store/sqlite-file.ts";
import { type ChunkTask, chunksAtATime } from "./history/chunk-thread.ts";
import type { KeepingOptions } from "./retention/open-retention.ts";
import { type HistoryOptions, runChain } from "./run-chain.ts";

const CACHE_TIMEOUT_MS = 50;

const SETTINGS_READ = [
  ...INGEST_SETTINGS,
  "REDIS_URL",
  "QUIET_POOLS_PER_SECOND",
  "WALLETS_PER_HOUR",
  "MAX_LOG_ADDRESSES",
  "PORTAL_REQUESTS_PER_SECOND",
  "BACKFILL_WRITE_MS",
  "HISTORY_DAYS",
  "HISTORY_DIR",
  "HISTORY_THREADS",
  "EVM_RAW_DAYS",
  "ARCHIVE_DIR",
  "HEAD_POLL_MS",
] as const;

/** Days of history where no setting says how many: a week of blocks costs a small plan some of its credits. */
const HISTORY_DAYS = { byPortal: 400, byNodes: 7 };

interface ChainToRun {
  readonly chain: ChainDeployments;
  readonly urls: readonly string[];
  readonly portalUrl: string | undefined;
  readonly startBlock: number | undefined;
}

/**
 * Starts indexing every chain that has RPC endpoints; where the deployments name no factory at all, it waits idle. Throws
 * ConfigError where no chain of the deployments has endpoints.
 */
export async function startIngest(env: Environment): Promise<Stoppable> {
  const [settings, { toRun, withoutSource }] = collectConfigErrors(
    () => readSettings(env, SETTINGS_READ),
    () => chainsToRun(env),
    () => rejectMisspeltSettings(env),
  );
  const ingest = await openIngest({
    service: "evm-dex",
    settings,
    endpoints: toRun.map(({ chain, urls }) => evmEndpoints(chain.chainId, urls)),
    missingSources: withoutSource,
    collections: COLLECTIONS,
    // The first 64 MB of a file of many gigabytes are a few of its pages, but count as memory of the process.
    mappedBytes: 0,
    ...SQLITE_FILE,
  });
  if (toRun.length === 0) ingest.log.warn("the deployments have no factory of a DEX: nothing to do");
  const { REDIS_URL: redisUrl } = settings;
  const cache = redisUrl === undefined ? undefined : await openSharedCache(redisUrl, ingest.log);
  if (settings.HISTORY_DAYS !== 0 && settings.HISTORY_DIR !== undefined)
    await ensureWritableFolder("HISTORY_DIR", settings.HISTORY_DIR);
  const options = {
    cache,
    inactivePoolsPerSecond: settings.QUIET_POOLS_PER_SECOND,
    walletsPerHour: settings.WALLETS_PER_HOUR,
    maxAddresses: settings.MAX_LOG_ADDRESSES,
    history: {
      folder: settings.HISTORY_DIR ?? settings.DATA_DIR,
      days: settings.HISTORY_DAYS,
      rawDays: settings.EVM_RAW_DAYS === 0 ? Number.POSITIVE_INFINITY : settings.EVM_RAW_DAYS,
      isArchived: settings.ARCHIVE_DIR !== undefined,
      chunks: settings.HISTORY_THREADS ?? chunksAtATime(),
    },
    stores: { dataDir: settings.DATA_DIR, mongodbUrl: settings.MONGODB_URL },
    keeping: { rawDays: settings.EVM_RAW_DAYS, archiveDir: settings.ARCHIVE_DIR },
    pollMs: settings.HEAD_POLL_MS,
    backfillWriteMs: settings.BACKFILL_WRITE_MS,
    paceOf: createPaces(settings.PORTAL_REQUESTS_PER_SECOND),
  };
  return ingest.run(
    toRun.map((chain) => (signal) => indexChain(ingest, chain, { ...options, signal })),
    async () => cache?.close(),
  );
}

/** Redis with a short timeout: snapshots save the services work, and must not slow down the ingest. */
function openSharedCache(redisUrl: string, log: Log): Promise<Cache> {
  const onFailure = limitFailureReports(({ failures, error }) =>
    log.warn({ err: error, failures }, "the cache fails; services read from the store"),
  );
  return openCache({ redisUrl, commandTimeoutMs: CACHE_TIMEOUT_MS, onFailure });
}

function chainsToRun(env: Environment): { toRun: ChainToRun[]; withoutSource: number[] } {
  const [startBlocks, rpc, portals, chains] = collectConfigErrors(
    () => readStartBlocks(env),
    () => readRpcUrls(env),
    () => readPortalUrls(env),
    () => readNamedFile(env, { setting: "DEPLOYMENTS_FILE", load: loadDeployments }),
  );
  const toRun = chains.flatMap((chain): ChainToRun[] => {
    const urls = rpc.get(chain.chainId);
    if (urls === undefined) return [];
    const { chainId } = chain;
    return [{ chain, urls, portalUrl: portals.get(chainId), startBlock: startBlocks.get(chainId) }];
  });
  if (toRun.length === 0 && chains.length > 0) {
    throw new ConfigError([
      "EVM_RPC_8453 or EVM_RPC_1 must name an RPC endpoint of a chain in the deployments.",
    ]);
  }
  const withoutSource = chains.filter(({ chainId }) => !rpc.has(chainId)).map(({ chainId }) => chainId);
  return { toRun, withoutSource };
}

/** Indexes a chain whenever this process holds the chain's lease. */
async function indexChain(
  ingest: Ingest,
  { chain, urls, portalUrl, startBlock }: ChainToRun,
  options: {
    cache: Cache | undefined;
    inactivePoolsPerSecond: number;
    walletsPerHour: number;
    maxAddresses: number;
    history: Omit<HistoryOptions, "days"> & { readonly days: number | undefined };
    stores: ChunkTask["store"];
    keeping: KeepingOptions;
    pollMs: number;
    backfillWriteMs: number;
    paceOf: PaceOf;
    signal: AbortSignal;
  },
): Promise<void> {
  const { cache, inactivePoolsPerSecond, walletsPerHour, maxAddresses, pollMs, paceOf, signal } = options;
  const { history, stores, keeping, backfillWriteMs } = options;
  const { store, metrics } = ingest;
  const { chainId, name } = chain;
  const log = ingest.log.child({ chainId });
  const labels: ProgressLabels = { chain: name, discovered: "pools", blockNoun: "block", events: "events" };
  const reporter = ingest.createReporter({ chainId, log, urls, labels });
  const gauges = metrics.chain(chainId);
  const config: ThreadConfig = {
    chainId,
    urls,
    log: (message, fields) => log.warn(fields, message),
    onEvent: gauges.onEvent,
    portal: portalUrl === undefined ? undefined : { url: portalUrl, options: paceOf(portalUrl) },
  };
  const { portal } = config;
  const nodes = watchHeads(createEvmSource(config), { pollMs, withSenders: true, log: config.log });
  const source = closeOnAbort(
    signal,
    portal === undefined ? nodes : withPortal(nodes, { ...portal, log: config.log }),
  );
  try {
    await ingest.runAsLeader({ chainId, log, reporter, signal, readHead: source.head }, (lead) =>
      runChain({
        store,
        source,
        openBulkSource: () => closeOnAbort(signal, readInThread(source, config)),
        chain,
        startBlock,
        inactivePoolsPerSecond,
        walletsPerHour,
        maxAddresses,
        backfillWriteMs,
        history: {
          ...history,
          days: history.days ?? (portal === undefined ? HISTORY_DAYS.byNodes : HISTORY_DAYS.byPortal),
          threads: {
            task: { store: stores, folder: history.folder, urls, portal, chain, maxAddresses },
            onEvent: gauges.onEvent,
          },
        },
        keeping,
        log,
        gauges,
        reporter,
        ...lead,
        ...(cache && { cache }),
      }),
    );
  } finally {
    await source.close();
  }
}
