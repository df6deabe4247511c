import { limitFailureReports } from "../../../shared/cache/failure-reports.ts";
import { openCache } from "../../../shared/cache/open.ts";
import type { DataVersion, Endpoint, ParamsOf } from "../../../shared/contract/endpoint.ts";
import { blockSecondsOf } from "../../../shared/evm/chains.ts";
import { currentHead, versionOf } from "../../../shared/index/evm/checkpoint.ts";
import { readRecentHeaders } from "../../../shared/index/evm/headers.ts";
import type { Log } from "../../../shared/logging/log.ts";
import type { Metrics } from "../../../shared/metrics/metrics.ts";
import { HeadFeed, RECENT_BLOCKS } from "../../../shared/service/head-feed.ts";
import type { StoreDeps } from "../deps.ts";
import { watchHeads } from "../heads.ts";
import { PoolReader } from "./pool-reader.ts";
import { createReadMetrics } from "./read-metrics.ts";

/** A hot pool must come faster from the cache than from the store: longer calls time out. */
const CACHE_TIMEOUT_MS = 20;

interface PoolReads {
  readonly pools: PoolReader;
  /** New heads, for live streams. */
  readonly heads: HeadFeed;
  /** The version that a response would have now, from memory. */
  dataVersion(endpoint: Endpoint, params: ParamsOf<Endpoint>): DataVersion | undefined;
  maxAgeSeconds(endpoint: Endpoint, params: ParamsOf<Endpoint>): number;
  close(): Promise<void>;
}

/** Watches the heads and opens the cache, and waits for neither: without them the store is read. */
export async function openPoolReads(
  options: StoreDeps & { redisUrl: string | undefined; log: Log; metrics: Metrics },
): Promise<PoolReads> {
  const { store, chains, redisUrl, log } = options;
  const chainIds = chains.map((chain) => chain.chainId);
  const heads = watchHeads(store, {
    chainIds,
    onFailure: (err, chainId) => log.warn({ err, chainId }, "reading the head failed"),
  });
  const metrics = createReadMetrics(options.metrics, { heads, chainIds });
  const report = limitFailureReports(({ failures, error }) =>
    log.warn({ err: error, failures }, "the cache fails; reading from the store instead"),
  );
  const onFailure = (error: Error): void => {
    metrics.cacheFailed();
    report(error);
  };
  const cache =
    redisUrl === undefined
      ? undefined
      : await openCache({ redisUrl, commandTimeoutMs: CACHE_TIMEOUT_MS, onFailure });
  if (cache !== undefined) metrics.watchCache(cache);
  const pools = new PoolReader({
    store,
    heads,
    onRead: metrics.read,
    onFailure,
    ...(cache && { cache }),
  });
  const feed = new HeadFeed({
    chainIds,
    current: (chainId) => currentHead(heads.current(chainId)),
    readRecent: (chainId, block) => readRecentHeaders(store, { chainId, block, count: RECENT_BLOCKS }),
    watch: (notify) => heads.watch(notify),
    onFailure: (err, chainId) => log.warn({ err, chainId }, "the head cannot be told to live streams"),
  });
  return {
    pools,
    heads: feed,
    dataVersion(_endpoint, { chain_id }) {
      const head = typeof chain_id === "number" ? heads.current(chain_id) : undefined;
      return head && versionOf(head);
    },
    maxAgeSeconds: (_endpoint, { chain_id }) => blockSecondsOf(chain_id),
    async close() {
      heads.close();
      pools.close();
      await cache?.close();
    },
  };
}
