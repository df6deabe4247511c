import { x402Facilitator } from "@x402/core/facilitator";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { ExactEvmScheme } from "@x402/evm/exact/facilitator";
import type { Hex } from "../../services/shared/chain/evm/port.ts";
import { ServiceError } from "../../services/shared/errors.ts";
import {
  ConfigError,
  type Environment,
  type LogLevel,
  readSettings,
} from "../../services/shared/host/config.ts";
import { closeHttpServer, createHttpServer, listen } from "../../services/shared/host/http-server.ts";
import { createLog, type Log } from "../../services/shared/host/log.ts";
import { Counter, createMetrics, type Metrics } from "../../services/shared/host/metrics.ts";
import { isLoopback } from "../../services/shared/host/service-token.ts";
import { readTracingConfig, type TracingConfig } from "../../services/shared/tracing/config.ts";
import { openTracing } from "../../services/shared/tracing/open.ts";
import { CHAIN_ID, NETWORK } from "../payment/network.ts";
import { createFacilitatorApp } from "./app.ts";
import { watchBalance } from "./balance.ts";
import { createWallet, type Wallet } from "./wallet.ts";

export interface FacilitatorConfig {
  readonly bindHost: string;
  /** 0 = any free port. */
  readonly port: number;
  readonly privateKey: `0x${string}`;
  /** The only address that payments are settled for: nobody else's gas is paid. */
  readonly payTo: string;
  readonly token?: string | undefined;
  readonly rpcUrls: readonly string[];
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
  /** Address of the wallet that pays for gas. */
  readonly address: string;
  stop(): Promise<void>;
}

/** Shorter than a gateway waits, so that it hears of a transaction that is on its way. */
const RECEIPT_TIMEOUT_MS = 8_000;

/** Throws ConfigError naming every variable that is wrong or missing. */
export function readFacilitatorConfig(env: Environment): FacilitatorConfig {
  const settings = readSettings(env, [
    "BIND_HOST",
    "FACILITATOR_PORT",
    "FACILITATOR_PRIVATE_KEY",
    "FACILITATOR_LOW_ETHER",
    "X402_PAY_TO",
    "X402_FACILITATOR_TOKEN",
    "EVM_RPC_8453",
    "DRAIN_DELAY_MS",
    "DRAIN_TIMEOUT_MS",
    "LOG_LEVEL",
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
    privateKey: FACILITATOR_PRIVATE_KEY as `0x${string}`,
    payTo: X402_PAY_TO as string,
    token: settings.X402_FACILITATOR_TOKEN,
    rpcUrls,
    lowEther: settings.FACILITATOR_LOW_ETHER,
    drainDelayMs: settings.DRAIN_DELAY_MS,
    drainTimeoutMs: settings.DRAIN_TIMEOUT_MS,
    logLevel: settings.LOG_LEVEL,
    tracing: readTracingConfig(env, "facilitator"),
  };
}

/** Runs the built-in facilitator. The chain may be away and is found when it comes; throws when the port is taken. */
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

  const app = createFacilitatorApp({
    facilitator,
    refuse: async (payload, requirements) =>
      findMisuse(payload, { requirements, payTo: config.payTo }) ?? findNoContract(wallet, requirements),
    token: config.token,
    log,
    metrics,
    tracing,
    readiness: async () => ({ ready: !isDraining, details: { address: wallet.address } }),
    isDraining: () => isDraining,
  });
  const server = createHttpServer(app);
  const port = await listen(server, { host: config.bindHost, port: config.port });
  const host = config.bindHost.includes(":") ? `[${config.bindHost}]` : config.bindHost;
  const url = `http://${host}:${port}`;
  log.info({ url, address: wallet.address, payTo: config.payTo }, "listening");
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
    log.info("stopped");
  };
  return {
    url,
    address: wallet.address,
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
}

/** Codes are those of @x402/evm. */
function findMisuse(
  { payload }: PaymentPayload,
  { requirements, payTo }: { requirements: PaymentRequirements; payTo: string },
): string | undefined {
  if (requirements.network !== NETWORK) return "invalid_exact_evm_network_mismatch";
  if (requirements.payTo.toLowerCase() !== payTo.toLowerCase()) return "invalid_exact_evm_recipient_mismatch";
  // Permit2 goes through contracts that would have to be trusted with more than one payment.
  return payload.authorization === undefined ? "unsupported_payload_type" : undefined;
}

/**
 * Looked up before the library does: it asks for the asset's code without waiting for the answer, so that a chain which
 * cannot be asked would end the process (2.27.0). What is known here it does not ask the chain for.
 */
async function findNoContract(wallet: Wallet, { asset }: PaymentRequirements): Promise<string | undefined> {
  try {
    return (await wallet.isContract(asset as Hex)) ? undefined : "asset_not_deployed_contract";
  } catch (cause) {
    throw new ServiceError("unavailable", "The chain cannot be asked at the moment.", { cause });
  }
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
