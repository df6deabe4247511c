import { x402Facilitator } from "@x402/core/facilitator";
import { ExactEvmScheme } from "@x402/evm/exact/facilitator";
import { ExactEvmScheme as PriceScheme } from "@x402/evm/exact/server";
import { closeHttpServer, createHttpServer, listen } from "../../../services/shared/http/server.ts";
import { createLog, type Log } from "../../../services/shared/logging/log.ts";
import {
  type AdminAddress,
  adminAddressOf,
  startAdminServer,
} from "../../../services/shared/metrics/admin-server.ts";
import { Counter, createMetrics, type Metrics } from "../../../services/shared/metrics/metrics.ts";
import { isLoopback } from "../../../services/shared/service/service-token.ts";
import { rejectMisspeltSettings } from "../../../services/shared/settings/misspelt-settings.ts";
import {
  ConfigError,
  collectConfigErrors,
  type Environment,
  type LogLevel,
  readSettings,
} from "../../../services/shared/settings/settings.ts";
import { readTracingConfig, type TracingConfig } from "../../../services/shared/tracing/config.ts";
import { openTracing } from "../../../services/shared/tracing/open.ts";
import { CHAIN_ID, NETWORK } from "../network.ts";
import { createFacilitatorApp } from "./app.ts";
import { watchBalance } from "./balance.ts";
import { createFailedWallets, type GasCaps } from "./gas.ts";
import { createRefusalCheck } from "./refusals.ts";
import { settleWithinCaps } from "./settle.ts";
import { createWallet } from "./wallet.ts";

interface FacilitatorConfig {
  readonly bindHost: string;
  /** 0 = any free port. */
  readonly port: number;
  /** Where operators read metrics. */
  readonly admin: AdminAddress;
  readonly privateKey: `0x${string}`;
  /** The only address that payments are settled for: the wallet pays gas for no other. */
  readonly payTo: string;
  readonly token?: string | undefined;
  readonly rpcUrls: readonly string[];
  readonly gasCaps: GasCaps;
  /** Ether of the wallet below which the log warns; 0 = never. */
  readonly lowEther: number;
  readonly drainDelayMs: number;
  readonly drainTimeoutMs: number;
  readonly logLevel: LogLevel;
  /** Absent = nothing is traced. */
  readonly tracing?: TracingConfig | undefined;
}

export interface RunningFacilitator {
  readonly url: string;
  /** Where operators read /metrics; undefined where it is off. */
  readonly adminUrl: string | undefined;
  /** Address of the wallet that pays for gas. */
  readonly address: string;
  stop(): Promise<void>;
}

/** Shorter than a gateway waits, so that the gateway gets the hash of a pending transaction. */
const RECEIPT_TIMEOUT_MS = 8_000;

const ADMIN_PORT = 9402;

/** Throws ConfigError naming every variable that is wrong or missing. */
export function readFacilitatorConfig(env: Environment): FacilitatorConfig {
  const [config] = collectConfigErrors(
    () => readConfig(env),
    () => readTracingConfig(env, "facilitator"),
    () => rejectMisspeltSettings(env),
  );
  return config;
}

function readConfig(env: Environment): FacilitatorConfig {
  const settings = readSettings(env, [
    "BIND_HOST",
    "FACILITATOR_PORT",
    "FACILITATOR_ADMIN_PORT",
    "ADMIN_HOST",
    "FACILITATOR_PRIVATE_KEY",
    "FACILITATOR_LOW_ETHER",
    "FACILITATOR_MAX_GAS_EOA",
    "FACILITATOR_MAX_GAS_CONTRACT",
    "X402_PAY_TO",
    "X402_FACILITATOR_TOKEN",
    "EVM_RPC_8453",
    "DRAIN_DELAY_MS",
    "DRAIN_TIMEOUT_MS",
    "LOG_LEVEL",
    "LOG_FORMAT",
  ]);
  const { FACILITATOR_PRIVATE_KEY, X402_PAY_TO } = settings;
  const rpcUrls = (settings.EVM_RPC_8453 ?? []).filter((url) => url.startsWith("http"));
  const missing = Object.entries({ FACILITATOR_PRIVATE_KEY, X402_PAY_TO, EVM_RPC_8453: rpcUrls[0] })
    .filter(([, value]) => value === undefined)
    .map(([name]) => `Cannot settle payments: ${name} is not set`);
  if (missing.length > 0) throw new ConfigError(missing);
  return {
    bindHost: settings.BIND_HOST,
    port: settings.FACILITATOR_PORT,
    admin: adminAddressOf(
      { host: settings.ADMIN_HOST, port: settings.FACILITATOR_ADMIN_PORT },
      { port: ADMIN_PORT, isAnyPortFree: settings.FACILITATOR_PORT === 0 },
    ),
    privateKey: FACILITATOR_PRIVATE_KEY as `0x${string}`,
    payTo: X402_PAY_TO as string,
    token: settings.X402_FACILITATOR_TOKEN,
    rpcUrls,
    gasCaps: {
      eoa: BigInt(settings.FACILITATOR_MAX_GAS_EOA),
      contract: BigInt(settings.FACILITATOR_MAX_GAS_CONTRACT),
    },
    lowEther: settings.FACILITATOR_LOW_ETHER,
    drainDelayMs: settings.DRAIN_DELAY_MS,
    drainTimeoutMs: settings.DRAIN_TIMEOUT_MS,
    logLevel: settings.LOG_LEVEL,
    tracing: readTracingConfig(env, "facilitator"),
  };
}

/** Runs the built-in facilitator. The chain may be unreachable at start; throws if the port is taken. */
export async function startFacilitator(
  config: FacilitatorConfig,
  parts: { readonly log?: Log; readonly metrics?: Metrics } = {},
): Promise<RunningFacilitator> {
  const log = parts.log ?? createLog({ name: "facilitator", level: config.logLevel });
  const metrics = parts.metrics ?? createMetrics({ name: "facilitator" });
  const tracing = await openTracing({ config: config.tracing, trustsCallers: true, log, metrics });
  const wallet = createWallet({ ...config, chainId: CHAIN_ID, receiptTimeoutMs: RECEIPT_TIMEOUT_MS });
  const facilitator = new x402Facilitator().register(NETWORK, new ExactEvmScheme(wallet.signer));
  countSettlements(facilitator, metrics);
  const balance = watchBalance({ wallet, lowEther: config.lowEther, log, metrics });
  let isDraining = false;

  const { asset } = await new PriceScheme().parsePrice(1, NETWORK);
  const failures = createFailedWallets();
  const { payTo, gasCaps } = config;
  const app = createFacilitatorApp({
    facilitator: settleWithinCaps(facilitator, { wallet, failures }),
    findRefusal: createRefusalCheck({ wallet, failures, gasCaps, payTo, asset }),
    token: config.token,
    log,
    metrics,
    tracing,
    readiness: async () => ({ ready: !isDraining, details: { address: wallet.address } }),
    isDraining: () => isDraining,
  });
  const admin = await startAdminServer(metrics, { ...config.admin, setting: "FACILITATOR_ADMIN_PORT" });
  const server = createHttpServer(app);
  const port = await listen(server, { host: config.bindHost, port: config.port }).catch(async (error) => {
    await admin.stop();
    throw error;
  });
  const host = config.bindHost.includes(":") ? `[${config.bindHost}]` : config.bindHost;
  const url = `http://${host}:${port}`;
  log.info({ url, address: wallet.address, payTo: config.payTo }, "listening");
  if (admin.url !== undefined) log.info({ url: admin.url }, "serving metrics");
  if (config.token === undefined && !isLoopback(config.bindHost)) {
    log.warn(
      { port },
      "Anyone who reaches this port can have payments settled at the wallet's expense: set X402_FACILITATOR_TOKEN, or admit only the gateway in your network.",
    );
  }

  let stopped: Promise<void> | undefined;
  const stop = async () => {
    isDraining = true;
    await new Promise((resolve) => setTimeout(resolve, config.drainDelayMs));
    balance.stop();
    await closeHttpServer(server, { timeoutMs: config.drainTimeoutMs });
    await tracing?.close();
    await admin.stop();
    log.info("stopped");
  };
  return {
    url,
    adminUrl: admin.url,
    address: wallet.address,
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
}

function countSettlements(facilitator: x402Facilitator, metrics: Metrics): void {
  const settlements = new Counter({
    name: "facilitator_settlements_total",
    help: "Settlements by outcome",
    labelNames: ["outcome"],
    registers: [metrics.registry],
  });
  facilitator
    .onAfterSettle(async ({ result }) =>
      settlements.inc({ outcome: result.success ? "settled" : (result.errorReason ?? "failed") }),
    )
    .onSettleFailure(async () => void settlements.inc({ outcome: "error" }));
}
