import type { DataVersion, Endpoint, ParamsOf } from "../contract/endpoint.ts";
import { type RunningGrpcServer, startGrpcServer } from "../grpc/server.ts";
import type { LiveHeads, PriceSource, ServiceMode, ServiceStatus, StatusSource } from "../grpc/types.ts";
import { closeHttpServer, createHttpServer, listen } from "../http/server.ts";
import { showChains } from "../ingest-status/show-chains.ts";
import { createLog, type Log } from "../logging/log.ts";
import { createMetrics, type Metrics } from "../metrics/metrics.ts";
import { VERSION } from "../process/version.ts";
import type { ServiceConfig, ServiceName } from "../settings/settings.ts";
import type { Store } from "../storage/port.ts";
import type { Tracing } from "../tracing/tracing.ts";
import { ExampleFinder, type FindExampleCandidates } from "./examples.ts";
import type { HandlerTable } from "./handlers.ts";
import type { Readiness } from "./probes.ts";
import { createServiceApp, type ServiceAppOptions } from "./service-app.ts";
import { createTokenCheck, isLoopback } from "./service-token.ts";

/** A service's own status; runService adds its name, version and the mode of a shutdown. */
export type OwnStatus = Pick<ServiceStatus, "mode" | "chains" | "peers">;

export interface ServiceOptions {
  readonly name: ServiceName;
  readonly endpoints: readonly Endpoint[];
  /** Handlers by path, made with `handle`; an endpoint without one behaves as if nothing was indexed. */
  readonly handlers: HandlerTable;
  readonly config: ServiceConfig;
  /** Damage of it ends readiness; absent in tests without a store. */
  readonly store?: Pick<Store, "damage" | "isReadOnly">;
  /** Must be fast: /readyz, gRPC health and Status use it. A rejection means not ready. */
  readonly status: (signal?: AbortSignal) => Promise<OwnStatus>;
  readonly prices?: PriceSource;
  /** New heads, for the live streams of gateways. */
  readonly heads?: LiveHeads;
  /** Finds examples of the endpoints' parameters in the stored data; absent = the service offers none. */
  readonly findExampleCandidates?: FindExampleCandidates;
  /** See ServiceAppOptions. */
  readonly dataVersion?: (endpoint: Endpoint, params: ParamsOf<Endpoint>) => DataVersion | undefined;
  readonly maxAgeSeconds?: (endpoint: Endpoint, params: ParamsOf<Endpoint>) => number;
  /** See ServiceAppOptions. */
  readonly missingDataError?: ServiceAppOptions["missingDataError"];
  /** Created from name and config by default. */
  readonly log?: Log;
  readonly metrics?: Metrics;
  /** Closed after the last response. */
  readonly tracing?: Tracing | undefined;
  /** Runs after the last response: closes stores, caches and clients. */
  readonly onStop?: () => Promise<void>;
}

export interface RunningService {
  readonly httpUrl: string;
  readonly grpcAddress: string;
  /**
   * Reports not ready, waits config.drainDelayMs, refuses connections, lets requests in flight finish for at most
   * config.drainTimeoutMs, then runs onStop. Repeated calls wait for the same stop.
   */
  stop(): Promise<void>;
}

/** Modes in which a service is ready. */
const READY: ReadonlySet<ServiceMode> = new Set(["empty", "serving", "stale"]);

/** Serves the endpoints over HTTP, and Status, health and optionally Prices over gRPC. Throws when a port is taken. */
export async function runService(options: ServiceOptions): Promise<RunningService> {
  const { name, config } = options;
  const log = options.log ?? createLog({ name, level: config.logLevel });
  const metrics = options.metrics ?? createMetrics({ name });
  let draining = false;

  const status: StatusSource = {
    async getStatus({ signal } = {}) {
      const own = await options.status(signal);
      return { service: name, version: VERSION, ...own, mode: draining ? "draining" : own.mode };
    },
  };
  let isDamageSaid = false;
  const readiness = async (): Promise<Readiness> => {
    const damage = options.store?.damage;
    if (damage !== undefined) {
      if (!isDamageSaid) log.error({ damage }, "the store's file is damaged: restore it from a backup");
      isDamageSaid = true;
      return { ready: false, details: { mode: "damaged", why: "the store's file is damaged" } };
    }
    try {
      const { mode, peers, chains } = await status.getStatus();
      const shownPeers = Object.fromEntries(peers.map((peer) => [peer.name, peer.state]));
      // Readiness of the process: a chain without data must not stop the tables of other chains.
      return { ready: READY.has(mode), details: { mode, peers: shownPeers, chains: showChains(chains) } };
    } catch (err) {
      log.warn({ err }, "the service's status cannot be read");
      return { ready: false };
    }
  };
  const { endpoints, handlers, findExampleCandidates } = options;
  const finder =
    findExampleCandidates && new ExampleFinder({ endpoints, handlers, findExampleCandidates, log });
  const isAuthorized = createTokenCheck(config.serviceTokens);
  const app = createServiceApp({
    endpoints,
    handlers,
    isAuthorized,
    examples: finder && (() => finder.find()),
    log,
    metrics,
    tracing: options.tracing,
    deadlineMs: config.deadlineMs,
    readiness,
    draining: () => draining,
    ...(options.missingDataError && { missingDataError: options.missingDataError }),
    ...(options.dataVersion && { dataVersion: options.dataVersion }),
    ...(options.maxAgeSeconds && { maxAgeSeconds: options.maxAgeSeconds }),
  });
  const http = createHttpServer(app);
  const grpc = await startGrpcServer({
    host: config.bindHost,
    port: config.grpcPort,
    isAuthorized,
    tracing: options.tracing,
    services: {
      status,
      health: async () => (await readiness()).ready,
      ...(options.prices && { prices: options.prices }),
      ...(options.heads && { heads: options.heads }),
    },
    onInternalError: (err, method) => log.error({ err, method }, "gRPC call failed"),
  });
  const httpPort = await listen(http, { host: config.bindHost, port: config.httpPort }).catch(
    async (error) => {
      await grpc.stop({ timeoutMs: 0 });
      throw error;
    },
  );

  const host = config.bindHost.includes(":") ? `[${config.bindHost}]` : config.bindHost;
  const running = { httpUrl: `http://${host}:${httpPort}`, grpcAddress: grpc.address };
  log.info(running, "listening");
  if (options.store?.isReadOnly === true)
    log.warn(
      "the store is read only for this process: what the ingest would read on request is not asked for",
    );
  if (isAuthorized === undefined && !isLoopback(config.bindHost)) {
    log.warn(
      { httpPort, grpcAddress: grpc.address },
      "Requests that reach these ports directly skip keys, limits and payment: set SERVICE_TOKEN, or admit only the gateway and the other services in your network.",
    );
  }
  let stopped: Promise<void> | undefined;
  return {
    ...running,
    stop() {
      stopped ??= stopService({ options, http, grpc, log, onDrain: () => (draining = true) });
      return stopped;
    },
  };
}

async function stopService(parts: {
  readonly options: ServiceOptions;
  readonly http: ReturnType<typeof createHttpServer>;
  readonly grpc: RunningGrpcServer;
  readonly log: Log;
  readonly onDrain: () => void;
}): Promise<void> {
  const { options, http, grpc, log } = parts;
  const { drainDelayMs, drainTimeoutMs } = options.config;
  parts.onDrain();
  log.info({ drainDelayMs }, "draining");
  await new Promise((resolve) => setTimeout(resolve, drainDelayMs));
  await Promise.all([
    closeHttpServer(http, { timeoutMs: drainTimeoutMs }),
    grpc.stop({ timeoutMs: drainTimeoutMs }),
  ]);
  await options.onStop?.();
  await options.tracing?.close();
  log.info("stopped");
}
