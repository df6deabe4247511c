import { setTimeout as sleep } from "node:timers/promises";
import type { DataVersion, Endpoint, ParamsOf } from "../../shared/contract/endpoint.ts";
import { blockSecondsOf } from "../../shared/evm/chains.ts";
import { KnownFinalBlocks } from "../../shared/evm/finality/known-final.ts";
import { createPricesClient } from "../../shared/grpc/client.ts";
import { isTokenRefused } from "../../shared/grpc/errors.ts";
import { hasData, versionOf } from "../../shared/index/evm/checkpoint.ts";
import { readRecentHeaders } from "../../shared/index/evm/headers.ts";
import type { Log } from "../../shared/logging/log.ts";
import type { Metrics } from "../../shared/metrics/metrics.ts";
import { HeadFeed, RECENT_BLOCKS } from "../../shared/service/head-feed.ts";
import { HeadWatcher } from "../../shared/service/head-watcher.ts";
import type { Store } from "../../shared/storage/port.ts";
import type { Tracing } from "../../shared/tracing/tracing.ts";
import type { CuratorRegistry } from "../curators.ts";
import type { ChainDeployments } from "../deployments.ts";
import type { ProtocolId } from "../protocols/protocol-id.ts";
import type { CheckpointRow } from "../store/collections.ts";
import { getCheckpoint } from "../store/queries.ts";
import { PastTables } from "./past/past-tables.ts";
import type { TableEvents } from "./tables/chain-tables.ts";
import { LendingTables } from "./tables/lending-tables.ts";
import { createTableMetrics } from "./tables/table-metrics.ts";

/** Deadline of a request for prices: tables are built at the last ones otherwise. */
const PRICES_DEADLINE_MS = 1_000;
/** How long the start waits for the store. */
const FIRST_READ_MS = 2_000;

export interface ServingOptions {
  readonly store: Store;
  readonly chains: readonly ChainDeployments[];
  readonly curators: CuratorRegistry;
  /** Addresses of evm-dex, the source of prices. */
  readonly evmDexAddresses: readonly string[];
  /** Authenticates to evm-dex, if it requires a token. */
  readonly serviceToken?: string | undefined;
  readonly staleSeconds: number;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracing?: Tracing | undefined;
}

export interface Serving {
  readonly heads: HeadWatcher<CheckpointRow>;
  readonly tables: LendingTables;
  readonly past: PastTables;
  readonly finalBlocks: KnownFinalBlocks;
  /** New heads whose tables are built, for live streams. */
  readonly feed: HeadFeed;
  /** The version that a response would have now. */
  dataVersion(endpoint: Endpoint, params: ParamsOf<Endpoint>): DataVersion | undefined;
  maxAgeSeconds(endpoint: Endpoint, params: ParamsOf<Endpoint>): number;
  /** Resolves after the last read of the store. */
  close(): Promise<void>;
}

/** Watches the heads and updates tables and prices. Resolves once the head of each chain is read. */
export async function openServing(options: ServingOptions): Promise<Serving> {
  const { store, chains, log, tracing } = options;
  const prices = createPricesClient(options.evmDexAddresses, {
    deadlineMs: PRICES_DEADLINE_MS,
    serviceToken: options.serviceToken,
    tracing,
  });
  const heads = new HeadWatcher<CheckpointRow>({
    read: (chainId) => getCheckpoint(store, chainId),
    hasData,
    chainIds: chains.map(({ chainId }) => chainId),
    onFailure: (err, chainId) => log.warn({ err, chainId }, "the head cannot be read"),
  });
  const tables = new LendingTables({
    ...{ store, chains, heads, prices, tracing, events: eventsFor(options) },
    curators: options.curators,
    staleSeconds: options.staleSeconds,
  });
  const past = new PastTables({
    store,
    chains,
    prices,
    curators: options.curators,
    staleSeconds: options.staleSeconds,
  });
  const finalBlocks = new KnownFinalBlocks(
    store,
    chains.map(({ chainId }) => chainId),
  );
  await Promise.race([heads.started, sleep(FIRST_READ_MS, undefined, { ref: false })]);
  // A chain without data is ready at once.
  tables.update();
  const feed = new HeadFeed({
    chainIds: chains.map(({ chainId }) => chainId),
    current: (chainId) => tables.builtHead(chainId),
    readRecent: (chainId, block) => readRecentHeaders(store, { chainId, block, count: RECENT_BLOCKS }),
    watch(notify) {
      const unwatch = [heads.watch(() => tables.update()), tables.watch(notify)];
      return () => {
        for (const each of unwatch) each();
      };
    },
    onFailure: (err, chainId) => log.warn({ err, chainId }, "the head cannot be told to live streams"),
  });
  return {
    heads,
    tables,
    past,
    finalBlocks,
    feed,
    dataVersion(endpoint, { chain_id }) {
      if (typeof chain_id !== "number") return undefined;
      const protocol = protocolOf(endpoint);
      if (protocol !== undefined) return tables.current({ chainId: chain_id, protocol })?.version;
      const head = heads.current(chain_id);
      return head && versionOf(head);
    },
    maxAgeSeconds: (_endpoint, { chain_id }) => blockSecondsOf(chain_id),
    async close() {
      heads.close();
      prices.close();
      await Promise.all([tables.close(), finalBlocks.close()]);
    },
  };
}

/** Protocols by path segment. */
const PROTOCOL_BY_FAMILY: Readonly<Record<string, ProtocolId>> = {
  lendinga: "aave-v3",
  lendingb: "euler-v2",
  lendingc: "morpho-v1",
};

/** The protocol whose rows an endpoint returns; undefined where they may be of any. */
export function protocolOf({ path }: Endpoint): ProtocolId | undefined {
  return PROTOCOL_BY_FAMILY[path.split("/")[3] ?? ""];
}

function eventsFor({ log, metrics }: ServingOptions): TableEvents {
  const tableMetrics = createTableMetrics(metrics);
  return {
    built(event) {
      tableMetrics.built(event);
      log.debug(event, "tables built");
    },
    rowSkipped(event) {
      tableMetrics.rowSkipped(event);
      log.debug(event, "row skipped: a number is not finite");
    },
    failed(event) {
      tableMetrics.failed(event);
      const { error: err, ...where } = event;
      log.error({ err, ...where }, "tables cannot be built");
    },
    pricesChanged(event) {
      tableMetrics.pricesChanged(event);
      const { error, chainId, hadPrices } = event;
      if (error === undefined) log.info({ chainId }, "prices of evm-dex are available");
      // Info before the first prices: both processes may just have started.
      else
        log[hadPrices || isTokenRefused(error) ? "warn" : "info"](
          { reason: reasonOf(error), chainId },
          "prices of evm-dex are not available",
        );
    },
  };
}

/** Without a stack: an unavailable peer is not a fault in this code. */
function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
