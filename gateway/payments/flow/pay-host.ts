import { setTimeout as sleep } from "node:timers/promises";
import { x402ResourceServer } from "@x402/core/server";
import { ExactEvmScheme } from "@x402/evm/exact/server";
import { limitFailureReports } from "../../../services/shared/cache/failure-reports.ts";
import { openRedisConnection } from "../../../services/shared/cache/redis-connection.ts";
import type { Endpoint } from "../../../services/shared/contract/endpoint.ts";
import { closeHttpServer, listen } from "../../../services/shared/http/server.ts";
import type { Log } from "../../../services/shared/logging/log.ts";
import type { Metrics } from "../../../services/shared/metrics/metrics.ts";
import type { Tracing } from "../../../services/shared/tracing/tracing.ts";
import type { AddressLimits } from "../../auth/limits/address-limits.ts";
import type { GatewayConfig, PaymentConfig } from "../../config.ts";
import { createInnerHost } from "../../mcp/paid/inner-host.ts";
import { createPaidMessages } from "../../mcp/paid/paid-messages.ts";
import type { Delivery } from "../../proxy/delivery/delivery.ts";
import type { Clock } from "../../request/clock.ts";
import type { PayHost, RequestForwarder } from "../../request/context.ts";
import { createGatewayServer } from "../../request/server.ts";
import { createLazyLedger, type OpenedLedger } from "../ledger/lazy-ledger.ts";
import { createMemoryLocks, createRedisLocks, type Locks } from "../ledger/locks.ts";
import { openStoredLedger } from "../ledger/open-ledger.ts";
import { CHAIN_ID, NETWORK } from "../network.ts";
import { createPaymentMetrics } from "../payment-metrics.ts";
import { createPaymentChain, type PaymentChain } from "../settlement/chain.ts";
import { createFacilitatorClient } from "../settlement/facilitator-client.ts";
import { watchFacilitator } from "../settlement/facilitator-watch.ts";
import { createJanitor } from "../settlement/janitor.ts";
import { createSettlement } from "../settlement/settlement.ts";
import { createOffers } from "./offers.ts";
import { createPaymentFlow } from "./payment-flow.ts";
import {
  createHostTest,
  createPayApp,
  createPaymentHandler,
  type PaymentHandler,
} from "./payment-handler.ts";

/** Time for settlements whose clients were disconnected at the end of a drain. */
const LATE_SETTLEMENTS_MS = 5_000;

/** Parts that tests replace. */
export interface PayHostParts {
  readonly openLedger?: () => Promise<OpenedLedger>;
  readonly locks?: Locks;
  readonly chain?: PaymentChain;
}

export interface PayHostDeps {
  readonly config: GatewayConfig & { readonly payment: PaymentConfig };
  /** Endpoints with the prices of this gateway. */
  readonly catalogue: readonly Endpoint[];
  readonly forward: RequestForwarder;
  readonly delivery: Delivery;
  readonly addressLimits: AddressLimits;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracing?: Tracing | undefined;
  readonly clock: Clock;
  readonly isDraining: () => boolean;
  readonly parts?: PayHostParts;
}

export interface RunningPayHost {
  /** Base address on this machine. */
  readonly url: string;
  /** Base address as clients see it; payments are bound to it. */
  readonly publicUrl: string;
  /** The same host behind the gateway's own port. */
  readonly behindGateway: PayHost | undefined;
  /** Lets requests in flight finish, and settlements after them, then closes everything. */
  stop(): Promise<void>;
}

/**
 * Runs the pay-per-request host. Resolves when it listens: facilitator, chain, store and Redis may be unreachable and are
 * used once they are back. Throws if the port is taken.
 */
export async function startPayHost(deps: PayHostDeps): Promise<RunningPayHost> {
  const { config, addressLimits, log, tracing, clock, isDraining, parts = {} } = deps;
  const { payment } = config;
  const metrics = createPaymentMetrics(deps.metrics);
  const ledger = createLazyLedger(
    parts.openLedger ??
      (() => openStoredLedger(config.store, { clock, answersKeptMs: payment.answersKeptMs })),
  );
  const locks = parts.locks ?? (await openLocks(config.redisUrl, log));
  const chain =
    parts.chain ??
    createPaymentChain({
      chainId: CHAIN_ID,
      urls: payment.rpcUrls,
      log: (message, fields) => log.warn(fields, message),
    });
  const facilitator = createFacilitatorClient({
    url: payment.facilitatorUrl,
    token: payment.facilitatorToken,
    verifyTimeoutMs: config.deadlineMs,
    settleTimeoutMs: payment.settleTimeoutMs,
    tracing,
  });
  const server = new x402ResourceServer(facilitator).register(NETWORK, new ExactEvmScheme());
  const settlement = createSettlement({ server, chain, ledger, log, watchMs: payment.settleTimeoutMs });
  const offers = await createOffers(deps.catalogue, payment.payTo);

  let publicUrl = payment.publicUrl ?? "";
  const paymentFlow = createPaymentFlow({
    ...{ server, chain, ledger, locks, settlement, metrics, addressLimits, log, clock },
    forward: deps.forward,
    delivery: deps.delivery,
    publicUrl: () => publicUrl,
    hasPeers: config.redisUrl !== undefined,
    deadlineMs: config.deadlineMs,
  });
  const inFlight = new Set<Promise<void>>();
  const tracked =
    (door: PaymentHandler): PaymentHandler =>
    (req, res) => {
      const answering = door(req, res).finally(() => inFlight.delete(answering));
      inFlight.add(answering);
      return answering;
    };
  const createApp = (door: PaymentHandler) =>
    createPayApp(door, { log, metrics: deps.metrics, tracing, isDraining });
  const doorDeps = { offers, paymentFlow, clock, addressLimits, publicUrl: () => publicUrl };
  const sold = [...offers.values()].map(({ endpoint }) => endpoint);
  const innerHost = createInnerHost(tracked(createPaymentHandler(doorDeps)), createApp);
  const messages = createPaidMessages({ sold, innerHost, addressLimits, clock, log });
  const answer = tracked(createPaymentHandler({ ...doorDeps, messages }));
  const http = createGatewayServer(createApp(answer));
  const port = await listen(http, { host: config.bindHost, port: payment.port });
  const host = config.bindHost.includes(":") ? `[${config.bindHost}]` : config.bindHost;
  const url = `http://${host}:${port}`;
  if (publicUrl === "") publicUrl = url;
  const janitor = createJanitor({ ledger, locks, settlement, chain, metrics, clock, log });
  janitor.start();
  log.info({ url, offers: [...offers.keys()], payTo: payment.payTo }, "selling requests");
  const watch = watchFacilitator({ facilitator, chain, log, metrics: deps.metrics });

  return {
    url,
    publicUrl,
    behindGateway: hasOwnName(publicUrl, config.publicUrl)
      ? { matches: createHostTest(publicUrl), handle: answer }
      : undefined,
    async stop() {
      watch.stop();
      await closeHttpServer(http, { timeoutMs: config.drainTimeoutMs });
      // After it: calls of tools that it has let finish are asked here.
      await innerHost.stop(config.drainTimeoutMs);
      await janitor.stop();
      // The ledger finds what takes longer.
      const answered = Promise.all(inFlight).then(() => paymentFlow.close());
      await Promise.race([answered, sleep(LATE_SETTLEMENTS_MS, undefined, { ref: false })]);
      locks.close();
      chain.close();
      await ledger.close();
    },
  };
}

async function openLocks(redisUrl: string | undefined, log: Log): Promise<Locks> {
  if (redisUrl === undefined) return createMemoryLocks();
  const onFailure = limitFailureReports(({ failures, error }) =>
    log.warn({ err: error, failures }, "Redis is unreachable: this gateway locks payments alone"),
  );
  return createRedisLocks(await openRedisConnection({ url: redisUrl, onFailure }));
}

/** Only a host of its own can be recognized by its name; a path of its own is up to a proxy in front. */
function hasOwnName(publicUrl: string, gatewayUrl: string | undefined): boolean {
  const { host, pathname } = new URL(publicUrl);
  return pathname === "/" && (gatewayUrl === undefined || new URL(gatewayUrl).host !== host);
}
