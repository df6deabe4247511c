import { setTimeout as sleep } from "node:timers/promises";
import type { DataVersion, Endpoint, ParamsOf } from "../../shared/contract/endpoint.ts";
import { blockSecondsOf } from "../../shared/evm/chains.ts";
import { createPricesClient } from "../../shared/grpc/client.ts";
import { isTokenRefused } from "../../shared/grpc/errors.ts";
import { hasData } from "../../shared/index/evm/checkpoint.ts";
import type { Log } from "../../shared/logging/log.ts";
import type { Metrics } from "../../shared/metrics/metrics.ts";
import { HeadWatcher } from "../../shared/service/head-watcher.ts";
import type { Store } from "../../shared/storage/port.ts";
import type { Tracing } from "../../shared/tracing/tracing.ts";
import type { CuratorRegistry } from "../curators.ts";
import type { ChainDeployments } from "../deployments.ts";
import type { ProtocolId } from "../protocols/protocol-id.ts";
import type { CheckpointRow } from "../store/collections.ts";
import { getCheckpoint } from "../store/queries.ts";
import type { TableEvents } from "./chain-tables.ts";
import { LendingTables } from "./lending-tables.ts";
import { createTableMetrics } from "./table-metrics.ts";

/** Prices that take longer are not waited for: tables are made at the last ones meanwhile. */
const PRICES_DEADLINE_MS = 1_000;
/** A store that answers this late is looked at later. */
const FIRST_LOOK_MS = 2_000;

export interface ServingOptions {
  readonly store: Store;
  readonly chains: readonly ChainDeployments[];
  readonly curators: CuratorRegistry;
  /** Addresses of evm-dex, which tells prices. */
  readonly pricesFrom: readonly string[];
  /** Lets us into evm-dex, where that demands it. */
  readonly serviceToken?: string | undefined;
  readonly staleSeconds: number;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracing?: Tracing | undefined;
}

export interface Serving {
  readonly heads: HeadWatcher<CheckpointRow>;
  readonly tables: LendingTables;
  /** The version an answer would have now. */
  dataVersion(endpoint: Endpoint, params: ParamsOf<Endpoint>): DataVersion | undefined;
  maxAgeSeconds(endpoint: Endpoint, params: ParamsOf<Endpoint>): number;
  /** Resolves when the store is read no more. */
  close(): Promise<void>;
}

/** Watches the heads, keeps tables and prices up with them. Resolves when the store has told where each chain stands. */
export async function openServing(options: ServingOptions): Promise<Serving> {
  const { store, chains, log, tracing } = options;
  const prices = createPricesClient(options.pricesFrom, {
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
  await Promise.race([heads.started, sleep(FIRST_LOOK_MS, undefined, { ref: false })]);
  // A chain without data needs no time to get ready.
  tables.look();
  return {
    heads,
    tables,
    dataVersion(endpoint, { chain_id }) {
      const protocol = protocolOf(endpoint);
      return typeof chain_id === "number"
        ? tables.current({ chainId: chain_id, protocol })?.version
        : undefined;
    },
    maxAgeSeconds: (_endpoint, { chain_id }) => blockSecondsOf(chain_id),
    async close() {
      heads.close();
      prices.close();
      await tables.close();
    },
  };
}

/** The protocol whose rows an endpoint answers with. */
const PROTOCOL_OF: Readonly<Record<string, ProtocolId>> = {
  lendinga: "aave-v3",
  lendingb: "euler-v2",
  lendingc: "morpho-v1",
};

/** Throws a plain Error for a path that no protocol stands behind. */
export function protocolOf({ path }: Endpoint): ProtocolId {
  const protocol = PROTOCOL_OF[path.split("/")[3] ?? ""];
  if (protocol === undefined) throw new Error(`No lending protocol stands behind ${path}.`);
  return protocol;
}

function eventsFor({ log, metrics }: ServingOptions): TableEvents {
  const counted = createTableMetrics(metrics);
  return {
    built(of) {
      counted.built(of);
      log.debug(of, "tables built");
    },
    leftOut(of) {
      counted.leftOut(of);
      log.debug(of, "a row is left out: one of its numbers is none");
    },
    failed(of) {
      counted.failed(of);
      const { error: err, ...where } = of;
      log.error({ err, ...where }, "tables cannot be made");
    },
    pricesChanged(of) {
      counted.pricesChanged(of);
      const { error, chainId, hadPrices } = of;
      if (error === undefined) log.info({ chainId }, "evm-dex tells prices");
      // Where it never had any, it may just have been started, as we were.
      else
        log[hadPrices || isTokenRefused(error) ? "warn" : "info"](
          { reason: reasonOf(error), chainId },
          "evm-dex cannot be asked for prices",
        );
    },
  };
}

/** A peer that is away is no fault of ours: its words say more than where we were told them. */
function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
