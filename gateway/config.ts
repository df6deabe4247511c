import type { Family } from "../services/shared/contract/endpoint.ts";
import { knowDeployedChains } from "../services/shared/evm/deployed-chains.ts";
import { type AdminAddress, adminAddressOf } from "../services/shared/metrics/admin-server.ts";
import { rejectMisspeltSettings } from "../services/shared/settings/misspelt-settings.ts";
import { readSolanaPeers } from "../services/shared/settings/rpc-urls.ts";
import {
  ConfigError,
  collectConfigErrors,
  type Environment,
  type LogLevel,
  readSettings,
} from "../services/shared/settings/settings.ts";
import { locateStore } from "../services/shared/settings/store-location.ts";
import { readTracingConfig, type TracingConfig } from "../services/shared/tracing/config.ts";

export interface GatewayConfig {
  readonly bindHost: string;
  /** 0 = any free port. */
  readonly port: number;
  /** Where operators read metrics; absent = nowhere. */
  readonly admin?: AdminAddress | undefined;
  /** Base address as clients see it, without a slash at the end; unset = where each request came in. */
  readonly publicUrl?: string | undefined;
  readonly upstreams: Readonly<Record<Family, readonly UpstreamAddress[]>>;
  /** Lets the gateway into services that demand one. */
  readonly serviceToken?: string | undefined;
  readonly bootstrapKey?: string | undefined;
  readonly store: StoreConfig;
  /** Shares limits, changes of keys and locks on payments between gateways; unset = each for itself. */
  readonly redisUrl?: string | undefined;
  readonly limits: LimitsConfig;
  /** Proxies whose word for the client's address is taken. */
  readonly trustedProxies: readonly string[];
  /** Processes that answer behind the port; absent = this one. */
  readonly workers?: number | undefined;
  /** Memory for cached responses of all workers; 0 or absent = no cache. */
  readonly cacheBytes?: number | undefined;
  /** Streams that this process serves at once, and of them those of one key. */
  readonly liveStreams: number;
  readonly liveStreamsPerKey: number;
  /** The pay-per-request host; absent = no payments. */
  readonly payment?: PaymentConfig | undefined;
  /** Absent = nothing is traced. */
  readonly tracing?: TracingConfig | undefined;
  readonly deadlineMs: number;
  readonly drainDelayMs: number;
  readonly drainTimeoutMs: number;
  readonly logLevel: LogLevel;
}

/** Where a replica of a service listens. */
export interface UpstreamAddress {
  readonly url: string;
  readonly grpc: string;
}

/** The limits of one subject. */
export interface LimitSettings {
  /** Requests a second in the long run, 0.001 to 1,000,000, at most three decimals. */
  readonly ratePerSecond: number;
  /** Requests at once, 1 to 1,000,000. */
  readonly burst: number;
  /** Requests a UTC day; null = no quota. */
  readonly dailyQuota: number | null;
}

export interface LimitsConfig {
  /** Of keys without limits of their own. */
  readonly key: LimitSettings;
  /** Of one address: answers that need no key; 402s count by themselves. */
  readonly address: LimitSettings;
  /** Of one address: payments that are verified. */
  readonly verification: LimitSettings;
}

/** What is sold for payments by x402, and how they are settled. */
export interface PaymentConfig {
  /** 0 = any free port. */
  readonly port: number;
  /** Base address as clients see it, without a slash at the end; unset = the listener's own. */
  readonly publicUrl?: string | undefined;
  /** Address on Base that is paid. */
  readonly payTo: string;
  readonly facilitatorUrl: string;
  readonly facilitatorToken?: string | undefined;
  /** USD a request in decimal digits by path, over those of the declarations; 0 = not for sale. */
  readonly prices: ReadonlyMap<string, string>;
  /** JSON-RPC endpoints of Base: whether a payment was settled is looked up there, not believed. */
  readonly rpcUrls: readonly string[];
  readonly settleTimeoutMs: number;
  readonly answersKeptMs: number;
}

/** Where keys and payments are kept: the MongoDB at the URL, else an embedded database in the folder. */
export interface StoreConfig {
  readonly mongodbUrl?: string | undefined;
  readonly dataDir: string;
}

export function readStoreConfig(env: Environment): StoreConfig {
  const { MONGODB_URL, DATA_DIR } = readSettings(env, ["MONGODB_URL", "DATA_DIR"]);
  return { mongodbUrl: MONGODB_URL, dataDir: DATA_DIR };
}

/** For commands beside a gateway: the store that it works on, which npm start may have put into a folder of its own. */
export function findStoreConfig(env: Environment): StoreConfig & { readonly note: string | undefined } {
  const { dataDir, mongodbUrl, note } = locateStore(env);
  return { dataDir, mongodbUrl, note };
}

export function readRedisUrl(env: Environment): string | undefined {
  return readSettings(env, ["REDIS_URL"]).REDIS_URL;
}

const ADMIN_PORT = 9401;

/** Throws ConfigError naming every variable that is wrong. */
export function readGatewayConfig(env: Environment): GatewayConfig {
  const [config] = collectConfigErrors(
    () => {
      knowDeployedChains(env.DEPLOYMENTS_FILE);
      return readConfig(env);
    },
    () => readUpstreams(env),
    () => readPaymentConfig(env),
    () => readTracingConfig(env, "gateway"),
    () => rejectMisspeltSettings(env),
  );
  return config;
}

function readConfig(env: Environment): GatewayConfig {
  const settings = readSettings(env, [
    "BIND_HOST",
    "GATEWAY_PORT",
    "ADMIN_PORT",
    "ADMIN_HOST",
    "BOOTSTRAP_API_KEY",
    "REDIS_URL",
    "KEY_RATE",
    "KEY_BURST",
    "KEY_DAILY_QUOTA",
    "ADDRESS_RATE",
    "ADDRESS_BURST",
    "VERIFY_RATE",
    "VERIFY_BURST",
    "TRUSTED_PROXIES",
    "SERVICE_TOKEN",
    "PUBLIC_URL",
    "GATEWAY_WORKERS",
    "RESPONSE_CACHE_MB",
    "LIVE_STREAMS",
    "LIVE_STREAMS_PER_KEY",
    "DEADLINE_MS",
    "DRAIN_DELAY_MS",
    "DRAIN_TIMEOUT_MS",
    "LOG_LEVEL",
    "LOG_FORMAT",
  ]);
  const payment = readPaymentConfig(env);
  checkWorkers(settings.GATEWAY_WORKERS, { isSelling: payment !== undefined, redisUrl: settings.REDIS_URL });
  return {
    bindHost: settings.BIND_HOST,
    port: settings.GATEWAY_PORT,
    admin: adminAddressOf(
      { host: settings.ADMIN_HOST, port: settings.ADMIN_PORT },
      { port: ADMIN_PORT, isAnyPortFree: settings.GATEWAY_PORT === 0 },
    ),
    publicUrl: normalise(settings.PUBLIC_URL),
    upstreams: readUpstreams(env),
    serviceToken: settings.SERVICE_TOKEN?.[0],
    bootstrapKey: settings.BOOTSTRAP_API_KEY,
    store: readStoreConfig(env),
    redisUrl: settings.REDIS_URL,
    limits: {
      key: {
        ratePerSecond: settings.KEY_RATE,
        burst: settings.KEY_BURST,
        dailyQuota: settings.KEY_DAILY_QUOTA || null,
      },
      address: { ratePerSecond: settings.ADDRESS_RATE, burst: settings.ADDRESS_BURST, dailyQuota: null },
      verification: { ratePerSecond: settings.VERIFY_RATE, burst: settings.VERIFY_BURST, dailyQuota: null },
    },
    trustedProxies: settings.TRUSTED_PROXIES ?? [],
    workers: settings.GATEWAY_WORKERS,
    cacheBytes: settings.RESPONSE_CACHE_MB * 1_048_576,
    liveStreams: settings.LIVE_STREAMS,
    liveStreamsPerKey: settings.LIVE_STREAMS_PER_KEY,
    payment,
    tracing: readTracingConfig(env, "gateway"),
    deadlineMs: settings.DEADLINE_MS,
    drainDelayMs: settings.DRAIN_DELAY_MS,
    drainTimeoutMs: settings.DRAIN_TIMEOUT_MS,
    logLevel: settings.LOG_LEVEL,
  };
}

/** Throws ConfigError where several workers could not agree, or cannot be. */
function checkWorkers(
  workers: number,
  { isSelling, redisUrl }: { readonly isSelling: boolean; readonly redisUrl: string | undefined },
): void {
  if (workers === 1) return;
  const problems: string[] = [];
  if ("Deno" in globalThis) {
    problems.push(
      `Cannot use GATEWAY_WORKERS: it must be 1 under Deno, which has no node:cluster, got ${workers}`,
    );
  }
  if (isSelling && redisUrl === undefined) {
    problems.push(
      `Cannot use GATEWAY_WORKERS: it must be 1 where X402_PAY_TO is set and REDIS_URL is not, since locks on payments stand there, got ${workers}`,
    );
  }
  if (problems.length > 0) throw new ConfigError(problems);
}

/** Undefined without an address to pay to. */
function readPaymentConfig(env: Environment): PaymentConfig | undefined {
  const settings = readSettings(env, [
    "BIND_HOST",
    "EVM_RPC_8453",
    "X402_PAY_TO",
    "X402_PORT",
    "X402_PUBLIC_URL",
    "X402_PRICES",
    "X402_FACILITATOR_URL",
    "X402_FACILITATOR_TOKEN",
    "X402_SETTLE_TIMEOUT_MS",
    "X402_ANSWERS_KEPT_SECONDS",
  ]);
  const payTo = settings.X402_PAY_TO;
  if (payTo === undefined) return undefined;
  const problems: string[] = [];
  const rpcUrls = (settings.EVM_RPC_8453 ?? []).filter((url) => url.startsWith("http"));
  if (rpcUrls.length === 0) {
    problems.push(
      "Cannot use X402_PAY_TO: EVM_RPC_8453 must name an http endpoint, where settled payments are looked up",
    );
  }
  if (settings.X402_PUBLIC_URL === undefined && ANY_ADDRESS.has(settings.BIND_HOST)) {
    problems.push(
      `Cannot use X402_PAY_TO: X402_PUBLIC_URL must be set where BIND_HOST is ${settings.BIND_HOST}: payments name the address that they are for`,
    );
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return {
    port: settings.X402_PORT,
    publicUrl: normalise(settings.X402_PUBLIC_URL),
    payTo,
    facilitatorUrl: settings.X402_FACILITATOR_URL,
    facilitatorToken: settings.X402_FACILITATOR_TOKEN,
    prices: new Map(settings.X402_PRICES),
    rpcUrls,
    settleTimeoutMs: settings.X402_SETTLE_TIMEOUT_MS,
    answersKeptMs: settings.X402_ANSWERS_KEPT_SECONDS * 1000,
  };
}

/** Bind addresses that stand for every interface. */
const ANY_ADDRESS = new Set(["0.0.0.0", "::"]);

/** Nothing in it needs escaping where documents show it, and no slash stands at its end. */
function normalise(url: string | undefined): string | undefined {
  return url && new URL(url).href.replace(/\/+$/, "");
}

function readUpstreams(env: Environment): GatewayConfig["upstreams"] {
  const settings = readSettings(env, [
    "EVM_DEX_URL",
    "EVM_DEX_GRPC",
    "LENDING_URL",
    "LENDING_GRPC",
    "SOLANA_URL",
  ]);
  const [evmDex, lending, solana] = collectConfigErrors(
    () => pairUp("EVM_DEX", settings.EVM_DEX_URL, settings.EVM_DEX_GRPC),
    () => pairUp("LENDING", settings.LENDING_URL, settings.LENDING_GRPC),
    () => pairUp("SOLANA", settings.SOLANA_URL, readSolanaPeers(env)),
  );
  return { "evm-dex": evmDex, lending, solana };
}

/** The replicas of a service: its n-th URL and its n-th gRPC address are the same process. */
function pairUp(name: string, urls: readonly string[], grpcs: readonly string[]): readonly UpstreamAddress[] {
  if (urls.length !== grpcs.length) {
    throw new ConfigError([
      `Cannot read ${name}_GRPC: it must list one address for each URL of ${name}_URL, got ${grpcs.length} for ${urls.length}`,
    ]);
  }
  return urls.map((address, position) => ({ url: originOf(name, address), grpc: grpcs[position] as string }));
}

/** Public and internal paths are the same, so a URL with a path of its own would be silently cut: it is refused. */
function originOf(name: string, address: string): string {
  const { origin, pathname, search, username } = new URL(address);
  if (pathname !== "/" || search !== "" || username !== "") {
    throw new ConfigError([`Cannot read ${name}_URL: each URL must be scheme, host and port alone`]);
  }
  return origin;
}
