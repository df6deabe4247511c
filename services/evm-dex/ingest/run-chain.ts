import type { Cache } from "../../shared/cache/port.ts";
import { KEPT_HEADERS } from "../../shared/evm/finality/fork.ts";
import { OtherChain } from "../../shared/evm/finality/genesis.ts";
import type { EvmSource } from "../../shared/evm/port.ts";
import type { SyncLog } from "../../shared/index/follow-head.ts";
import { type IndexAttempt, indexUntilAborted } from "../../shared/ingest/index-until-aborted.ts";
import type { ChainGauges } from "../../shared/ingest/metrics.ts";
import type { IngestReporter } from "../../shared/ingest/reporter.ts";
import type { ProgressReport } from "../../shared/ingest-status/progress.ts";
import type { Log } from "../../shared/logging/log.ts";
import { pause } from "../../shared/process/pause.ts";
import { claimRow, type Guard } from "../../shared/storage/lease.ts";
import type { Store } from "../../shared/storage/port.ts";
import type { ChainDeployments } from "../deployments.ts";
import { checkpoints } from "../store/collections.ts";
import { getCheckpoint } from "../store/queries.ts";
import { discoverPools, planPools } from "./discover/discover-pools.ts";
import { type ChunkThreadOptions, runChunksInThreads } from "./history/chunk-thread.ts";
import { type GrowContext, growHistory, type HistoryProgress } from "./history/grow.ts";
import { runChunksHere } from "./history/run-chunk.ts";
import { ScratchStore } from "./history/scratch.ts";
import { readInactivePools } from "./reads/inactive-pools.ts";
import { ReadBudget } from "./reads/read-budget.ts";
import { readRequestedWallets } from "./reads/requested-wallets.ts";
import { type KeepingOptions, openRetention } from "./retention/open-retention.ts";
import { SnapshotWriter } from "./snapshots/snapshot-writer.ts";
import { openCheckpoint } from "./start-block.ts";
import { ChainSync } from "./sync.ts";

export interface RunChainOptions {
  readonly store: Store;
  readonly source: EvmSource;
  /** See SyncDeps. */
  readonly openBulkSource?: () => EvmSource;
  readonly chain: ChainDeployments;
  readonly startBlock: number | undefined;
  /** Inactive pools read a second; 0 = none. */
  readonly inactivePoolsPerSecond: number;
  /** Requested wallets read an hour; 0 = none. */
  readonly walletsPerHour: number;
  /** History before the head; absent = none. */
  readonly history?: HistoryOptions | undefined;
  readonly keeping: KeepingOptions;
  /** Contracts that one eth_getLogs may name. */
  readonly maxAddresses?: number;
  /** See BatchWriterDeps. */
  readonly backfillWriteMs?: number;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly guard: Guard;
  readonly gauges?: ChainGauges;
  /** Shows the progress; absent in tests. */
  readonly reporter?: Pick<IngestReporter, "report" | "reportFailure">;
  /** Services find snapshots of hot pools here; absent without Redis. */
  readonly cache?: Cache;
}

export interface HistoryOptions
  extends Pick<GrowContext, "folder" | "days" | "rawDays" | "isArchived" | "chunks"> {
  /** Runs chunks in threads; absent = in this one. */
  readonly threads?: Omit<ChunkThreadOptions, "log" | "fallback">;
}

const FOLLOWING_CHECK_MS = 500;
const RETRY_MS = 5_000;
const WRITER_DIED = "the thread that writes has failed: the main thread writes";

/**
 * Indexes one chain until the signal, as indexUntilAborted: discovery, backfill, head. Throws OtherChain where the store
 * is of another chain.
 */
export async function runChain(options: RunChainOptions): Promise<void> {
  const isFatal = (error: unknown) => error instanceof OtherChain;
  await indexUntilAborted({ ...options, isFatal }, (attempt) => indexOnce(options, attempt));
}

async function indexOnce(
  options: RunChainOptions,
  { stalls, report, log: syncLog }: IndexAttempt,
): Promise<void> {
  const { store, source, chain, signal, log, guard } = options;
  if (stalls.isStalled) await stalls.waitUntil(() => source.recheck());
  await claimRow(store, guard, { target: checkpoints, key: { chainId: chain.chainId } });
  const { history } = options;
  // Chunks that another index of the chain has left may be of other deployments.
  if (history !== undefined && (await getCheckpoint(store, chain.chainId)) === undefined)
    await ScratchStore.removeFrom({ folder: history.folder, chainId: chain.chainId, block: 0 });
  const checkpoint = await openCheckpoint(store, {
    source,
    guard,
    anchors: chain.stablecoins,
    startBlock: options.startBlock,
  });
  const head = await source.head();
  options.gauges?.setHead(head);
  const toBlock = Math.min(checkpoint.fromBlock - 1, head.number);
  const discovery = { factories: chain.factories, toBlock, indexedTo: checkpoint.blockNumber };
  report({
    stage: "plan",
    scans: await planPools(store, { ...discovery, chainId: chain.chainId }),
    backfill: { from: checkpoint.fromBlock, at: checkpoint.blockNumber },
  });
  const bulk = openAhead(options.openBulkSource, head.number - checkpoint.blockNumber > KEPT_HEADERS);
  try {
    await discoverPools(store, {
      ...discovery,
      ...{ source, signal, report, guard, maxAddresses: options.maxAddresses },
    });
    const snapshots = options.cache && new SnapshotWriter({ store, cache: options.cache, log, signal });
    const retention = openRetention(options);
    const sync = await ChainSync.open(
      {
        store,
        source,
        chain,
        signal,
        report,
        guard,
        gauges: options.gauges,
        maxAddresses: options.maxAddresses,
        backfillWriteMs: options.backfillWriteMs,
        ...(bulk && { openBulkSource: bulk.open }),
        log: syncLog,
        ...(snapshots && { onHead: (head) => snapshots.onHead(head) }),
        openBulkWriter: () => store.openBulkWriter((reason) => log.warn({ reason }, WRITER_DIED)),
        afterBatch: (batch) => retention.afterBatch(batch),
        isAfterBatchDue: (batch) => retention.isDue(batch),
      },
      checkpoint,
    );
    stalls.resolve();
    log.info({ block: sync.checkpoint.blockNumber, head: head.number }, "indexing");
    await runWithReads({ ...options, syncLog, report }, sync);
  } finally {
    await bulk?.close();
  }
}

/** Opens the first bulk source before it is needed, where a long backfill is certain: its thread is up by then. */
function openAhead(open: (() => EvmSource) | undefined, isWanted: boolean) {
  if (open === undefined) return undefined;
  let ahead = isWanted ? open() : undefined;
  const take = () => {
    const source = ahead;
    ahead = undefined;
    return source;
  };
  return { open: () => take() ?? open(), close: () => take()?.close() };
}

interface BackgroundOptions extends RunChainOptions {
  readonly syncLog: SyncLog;
  readonly report: ProgressReport;
}

async function runWithReads(options: BackgroundOptions, sync: ChainSync): Promise<void> {
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const reading = readOnceFollowing(options, { sync, signal });
  try {
    await sync.run();
  } finally {
    stop.abort();
    await reading;
  }
}

/** In the background, once the backfill no longer needs the endpoints. */
async function readOnceFollowing(
  options: BackgroundOptions,
  { sync, signal }: { sync: ChainSync; signal: AbortSignal },
): Promise<void> {
  while (!sync.isFollowing && !signal.aborted) await pause(FOLLOWING_CHECK_MS, signal);
  await Promise.all([
    readInactive(options, { sync, signal }),
    readWallets(options, signal),
    readHistory(options, { sync, signal }),
  ]);
}

async function readHistory(
  { history, syncLog, report, ...run }: BackgroundOptions,
  { sync, signal }: { sync: ChainSync; signal: AbortSignal },
): Promise<void> {
  // An index that was told where to begin begins there.
  if (history === undefined || history.days === 0 || run.startBlock !== undefined) return;
  const { store, source, chain, maxAddresses, openBulkSource } = run;
  const { folder, threads, ...options } = history;
  const here = runChunksHere({ store, source, chain, maxAddresses, openBulkSource, folder, log: syncLog });
  const onProgress = (progress: HistoryProgress) => report({ stage: "history", ...progress });
  await growHistory({
    ...{ store, source, chain, sync, signal, onProgress, log: syncLog, folder, ...options },
    runChunk: threads === undefined ? here : runChunksInThreads({ ...threads, log: syncLog, fallback: here }),
  });
}

/** A failure is logged; the next start goes on. */
async function readInactive(
  { store, source, guard, log, inactivePoolsPerSecond: perSecond }: RunChainOptions,
  { sync, signal }: { sync: ChainSync; signal: AbortSignal },
): Promise<void> {
  if (perSecond === 0) return;
  try {
    const { fromBlock } = sync.checkpoint;
    const read = await readInactivePools({ store, source, fromBlock, perSecond, guard, signal, pause });
    if (read > 0) log.info({ pools: read }, "read pools without events");
  } catch (err) {
    if (!signal.aborted) log.warn({ err }, "reading pools without events was interrupted");
  }
}

/** As long as the chain is indexed. A failure is logged; the next wallet follows. */
async function readWallets(
  { store, source, guard, log, walletsPerHour }: RunChainOptions,
  signal: AbortSignal,
): Promise<void> {
  if (walletsPerHour === 0) return;
  const budget = new ReadBudget(walletsPerHour);
  while (!signal.aborted) {
    try {
      await readRequestedWallets({ store, source, guard, signal, pause, budget });
    } catch (err) {
      if (!signal.aborted) log.warn({ err }, "reading a wallet's LP positions failed");
      await pause(RETRY_MS, signal);
    }
  }
}
