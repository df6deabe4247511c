import type { Endpoint, Family } from "../services/shared/contract/endpoint.ts";
import { closeHttpServer, type HttpTimeouts, listen } from "../services/shared/http/server.ts";
import { createLog, type Log } from "../services/shared/logging/log.ts";
import { createMetrics, type Metrics } from "../services/shared/metrics/metrics.ts";
import { openTracing } from "../services/shared/tracing/open.ts";
import { openAdmin } from "./admin.ts";
import { createGateway } from "./app.ts";
import type { AuthStores } from "./auth/lazy-directory.ts";
import type { SharedBuckets } from "./auth/limits/shared-buckets.ts";
import { openAuth } from "./auth/open-auth.ts";
import { openAuthStores } from "./auth/open-stores.ts";
import { catalogue as everyEndpoint } from "./catalogue.ts";
import type { GatewayConfig, UpstreamAddress } from "./config.ts";
import { type LiveParts, openLive } from "./live/open-live.ts";
import { LiveExampleWatch } from "./pages/live-examples.ts";
import {
  type PayHostDeps,
  type PayHostParts,
  type RunningPayHost,
  startPayHost,
} from "./payments/flow/pay-host.ts";
import { applyPrices } from "./payments/flow/prices.ts";
import { createCachingForwarder } from "./proxy/cache/caching-forwarder.ts";
import { publishCacheMetrics } from "./proxy/cache/metrics.ts";
import { createResponseCache } from "./proxy/cache/response-cache.ts";
import { createDelivery } from "./proxy/delivery/delivery.ts";
import { createForwarder, type ForwarderOptions } from "./proxy/delivery/forwarder.ts";
import { HeadEpochs } from "./proxy/heads/head-epochs.ts";
import { type HeadsParts, openHeads } from "./proxy/heads/open-heads.ts";
import { createUpstreamClient } from "./proxy/upstream/client.ts";
import { createHealthPoll, type PolledUpstream } from "./proxy/upstream/health-poll.ts";
import { createHealthProbe } from "./proxy/upstream/health-probe.ts";
import { logStateChanges, measureUpstreams } from "./proxy/upstream/metrics.ts";
import { createServiceStatuses } from "./proxy/upstream/service-statuses.ts";
import { createUpstreamGroup, type Upstream, type UpstreamGroup } from "./proxy/upstream/upstream.ts";
import { type Clock, systemClock } from "./request/clock.ts";
import type { RequestForwarder } from "./request/context.ts";
import { checkRawHeads } from "./request/response-head.ts";
import { createGatewayServer } from "./request/server.ts";

/** What can be replaced: by tests, and by a process that runs more than the gateway. */
export interface GatewayParts {
  readonly log?: Log;
  readonly metrics?: Metrics;
  readonly clock?: Clock;
  readonly catalogue?: readonly Endpoint[];
  /** Opens the key store; default: the one in the configuration. */
  readonly openKeys?: () => Promise<AuthStores>;
  readonly payment?: PayHostParts;
  /** Limits shared among the workers of this gateway, used without Redis. */
  readonly sharedBuckets?: SharedBuckets;
  /** How long limits wait for Redis before this gateway decides alone. */
  readonly redisTimeoutMs?: number;
  /** How long a health probe waits for a replica. */
  readonly probeTimeoutMs?: number;
  readonly httpTimeouts?: HttpTimeouts;
  /** Times of live streams, and of following heads. */
  readonly live?: LiveParts;
  readonly heads?: HeadsParts;
}

export interface RunningGateway {
  /** Base address on this machine. */
  readonly url: string;
  /** The pay-per-request host's, where there is one. */
  readonly payUrl?: string | undefined;
  /** Where operators read /metrics; undefined where it is off, or where the parent of workers serves it. */
  readonly adminUrl?: string | undefined;
  /**
   * Reports not ready, waits config.drainDelayMs, refuses connections, lets requests in flight finish for at most
   * config.drainTimeoutMs, then closes everything. Repeated calls wait for the same stop.
   */
  stop(): Promise<void>;
}

/**
 * Runs a gateway. Resolves when it listens and has probed every replica once; services and key store may be down and are
 * found when they come up. Throws when the port is taken.
 */
export async function startGateway(config: GatewayConfig, parts: GatewayParts = {}): Promise<RunningGateway> {
  const log = parts.log ?? createLog({ name: "gateway", level: config.logLevel });
  const metrics = parts.metrics ?? createMetrics({ name: "gateway" });
  const clock = parts.clock ?? systemClock;
  const tracing = await openTracing({ config: config.tracing, trustsCallers: false, log, metrics });
  const admin = await openAdmin(config, { metrics, log });
  let isStopping = false;
  const isDraining = () => isStopping;

  const access = await openAuth(config, {
    log,
    metrics,
    clock,
    openKeys: parts.openKeys ?? (() => openAuthStores(config.store, clock)),
    sharedBuckets: parts.sharedBuckets,
    redisTimeoutMs: parts.redisTimeoutMs,
  });

  const { probeTimeoutMs } = parts;
  const { groups, polled, tokenRefusedBy } = createUpstreams(config, { log, clock, probeTimeoutMs });
  const poll = createHealthPoll({ polled });
  const statuses = createServiceStatuses(config.upstreams, config);
  measureUpstreams(groups.values(), metrics);
  const { deadlineMs, serviceToken } = config;
  const client = createUpstreamClient({ groups, clock, deadlineMs, tracing, serviceToken });
  const delivery = createDelivery({
    isDraining,
    stallMs: parts.httpTimeouts?.stallMs,
    usesRawHeads: checkRawHeads(log),
  });
  const { outageMs, cacheIdleMs: idleMs } = parts.heads ?? {};
  const heads = openHeads(config, { groups, metrics, outageMs });
  const epochs = new HeadEpochs({ families: heads, clock, idleMs });
  const forward = chooseForwarder({ client, delivery, clock, deadlineMs }, config, { metrics, epochs });

  const declared = parts.catalogue ?? everyEndpoint;
  const catalogue = config.payment ? applyPrices(declared, config.payment.prices) : declared;
  const live = openLive(config, {
    access,
    client,
    clock,
    heads,
    isDraining,
    metrics,
    parts: parts.live ?? {},
  });
  const payHost = await openPayHost({
    ...{ config, catalogue, forward, delivery, log, metrics, tracing, clock },
    addressLimits: access.addressLimits,
    isDraining,
    parts: parts.payment ?? {},
  });

  const liveExamples = new LiveExampleWatch({ catalogue, groups, serviceToken: config.serviceToken, log });
  let ownUrl = "";
  const app = createGateway({
    catalogue,
    access,
    groups,
    tokenRefusedBy,
    statuses,
    forward,
    live: (context) => live.open(context),
    log,
    metrics,
    tracing,
    clock,
    isDraining,
    publicUrl: config.publicUrl,
    payHost: payHost?.behindGateway,
    payUrl: payHost?.publicUrl,
    liveExamples: () => liveExamples.current(),
    ownUrl: () => ownUrl,
  });
  const server = createGatewayServer(app, parts.httpTimeouts);
  const port = await listen(server, { host: config.bindHost, port: config.port }).catch(async (error) => {
    live.close();
    epochs.close();
    await Promise.all([access.close(), payHost?.stop(), admin?.stop()]);
    throw error;
  });
  const host = config.bindHost.includes(":") ? `[${config.bindHost}]` : config.bindHost;
  const url = `http://${host}:${port}`;
  ownUrl = `http://${OWN_HOSTS[config.bindHost] ?? host}:${port}`;
  log.info({ url }, "listening");
  await Promise.all([poll.start(), access.open()]);
  liveExamples.start();

  let stopped: Promise<void> | undefined;
  const stop = async () => {
    isStopping = true;
    log.info({ drainDelayMs: config.drainDelayMs }, "draining");
    await new Promise((resolve) => setTimeout(resolve, config.drainDelayMs));
    live.shutDown();
    await Promise.all([closeHttpServer(server, { timeoutMs: config.drainTimeoutMs }), payHost?.stop()]);
    poll.stop();
    liveExamples.stop();
    statuses.close();
    live.close();
    epochs.close();
    client.close();
    await access.close();
    await tracing?.close();
    await admin?.stop();
    log.info("stopped");
  };
  return {
    url,
    payUrl: payHost?.url,
    adminUrl: admin?.url,
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
}

/** Where a listener on every interface is reached from this machine. */
const OWN_HOSTS: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "[::1]" };

function chooseForwarder(
  options: ForwarderOptions,
  { cacheBytes = 0 }: GatewayConfig,
  { metrics, epochs }: { readonly metrics: Metrics; readonly epochs: HeadEpochs },
): RequestForwarder {
  if (cacheBytes === 0) return createForwarder(options);
  const cache = createResponseCache({ maxBytes: cacheBytes });
  const counts = publishCacheMetrics(cache, metrics);
  return createCachingForwarder({ ...options, cache, heads: epochs, counts });
}

/** The pay-per-request host, where payments are configured. */
async function openPayHost({
  config,
  ...deps
}: Omit<PayHostDeps, "config"> & { readonly config: GatewayConfig }): Promise<RunningPayHost | undefined> {
  const { payment } = config;
  return payment && startPayHost({ ...deps, config: { ...config, payment } });
}

function createUpstreams(
  { upstreams: addresses, serviceToken }: GatewayConfig,
  { log, clock, probeTimeoutMs }: { log: Log; clock: Clock; probeTimeoutMs: number | undefined },
) {
  const onChange = logStateChanges(log);
  const groups = new Map<Family, UpstreamGroup>();
  const polled: PolledUpstream[] = [];
  const tokenRefusedBy = new Set<Upstream>();
  for (const [family, replicas] of Object.entries(addresses) as [Family, readonly UpstreamAddress[]][]) {
    const group = createUpstreamGroup({ family, urls: replicas.map(({ url }) => url), onChange, clock });
    groups.set(family, group);
    for (const [position, upstream] of group.members.entries()) {
      const onToken = (isRefused: boolean) =>
        void (isRefused ? tokenRefusedBy.add(upstream) : tokenRefusedBy.delete(upstream));
      const options = { timeoutMs: probeTimeoutMs, serviceToken, onToken };
      const probe = createHealthProbe(replicas[position] as UpstreamAddress, options);
      polled.push({ group, upstream, probe });
    }
  }
  return { groups, polled, tokenRefusedBy };
}
