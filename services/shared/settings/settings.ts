import { serviceTokens } from "../service/service-token.ts";
import { blockNumber, portalUrl, rpcUrls } from "./chain-settings.ts";
import {
  type Environment,
  type EnvOf,
  either,
  grpcAddress,
  integer,
  list,
  oneOf,
  port,
  readEnv,
  type Settings,
  text,
  url,
} from "./env.ts";
import { GATEWAY_SETTINGS } from "./gateway-settings.ts";
import { PAYMENT_SETTINGS } from "./payment-settings.ts";
import { SOLANA_SETTINGS } from "./solana-settings.ts";
import { TRACING_SETTINGS } from "./tracing-settings.ts";

// biome-ignore lint/performance/noBarrelFile: readers of settings need their errors without a second import.
export { ConfigError, collectConfigErrors, type Environment, readEnv, readNamedFile } from "./env.ts";

/** The deployable services with the ports they listen on when nothing is configured. */
export const SERVICE_PORTS = {
  "evm-dex": { http: 8101, grpc: 9101 },
  lending: { http: 8102, grpc: 9102 },
  solana: { http: 8103, grpc: 9103 },
} as const;

export type ServiceName = keyof typeof SERVICE_PORTS;
export const SERVICE_NAMES = Object.keys(SERVICE_PORTS) as readonly ServiceName[];

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const services: readonly string[] = SERVICE_NAMES;
const allProcesses = ["gateway", ...services, "ingest"];
const milliseconds = integer({ min: 0, max: 600_000 });
const defaultPorts = (kind: "http" | "grpc") =>
  Object.entries(SERVICE_PORTS)
    .map(([name, ports]) => `${ports[kind]} for ${name}`)
    .join(", ");

/** Every environment variable of the product. Documentation and readers derive from this table. */
export const SETTINGS = {
  ...GATEWAY_SETTINGS,
  BIND_HOST: {
    parse: text(),
    default: "127.0.0.1",
    usedBy: [...allProcesses, "facilitator"],
    meaning: "Address that listeners bind to; 0.0.0.0 in containers",
  },
  HTTP_PORT: {
    parse: port(),
    usedBy: services,
    meaning: `Port of a service's HTTP listener; ${defaultPorts("http")} when unset, 0 for any free port`,
  },
  GRPC_PORT: {
    parse: port(),
    usedBy: services,
    meaning: `Port of a service's gRPC listener; ${defaultPorts("grpc")} when unset, 0 for any free port`,
  },
  SERVICE_TOKEN: {
    parse: serviceTokens,
    secret: true,
    usedBy: ["gateway", ...services],
    meaning:
      "Token that services require on their HTTP and gRPC ports (except probes) and that the gateway and lending send: at least 32 characters. To rotate it, set a comma-separated list: each token is accepted, the first is sent; unset = services answer every request that reaches their ports",
  },
  EVM_DEX_URL: upstreamUrls("evm-dex"),
  LENDING_URL: upstreamUrls("lending"),
  SOLANA_URL: upstreamUrls("solana"),
  EVM_DEX_GRPC: peerAddress("evm-dex", ["gateway", "lending"]),
  LENDING_GRPC: peerAddress("lending", ["gateway"]),
  SOLANA_GRPC: {
    ...peerAddress("solana", ["gateway", "ingest"]),
    parse: list(either(grpcAddress(), url(["http", "https"]))),
    meaning:
      "Gateway: gRPC addresses host:port of the solana service's replicas, comma-separated. Ingest: an https:// (or http://) URL is a Yellowstone gRPC server, from which blocks are streamed beside SOLANA_RPC",
  },
  MONGODB_URL: {
    parse: url(["mongodb", "mongodb+srv"]),
    secret: true,
    usedBy: allProcesses,
    meaning: "MongoDB to store data in; unset = an SQLite file in DATA_DIR",
  },
  REDIS_URL: {
    parse: url(["redis", "rediss"]),
    secret: true,
    usedBy: allProcesses,
    meaning:
      "Redis for limits that all gateways share, word of changed keys, locks on payments, and snapshots of hot pools, which the ingest writes and every replica reads; unset = memory of each process",
  },
  DATA_DIR: {
    parse: text(),
    default: "./data",
    usedBy: allProcesses,
    meaning: "Folder of the embedded database",
  },
  EVM_RPC_8453: {
    parse: rpcUrls,
    secret: true,
    usedBy: ["ingest", "gateway", "facilitator"],
    meaning:
      "JSON-RPC endpoints of Base, comma-separated, the preferred one first; the gateway needs one to sell requests",
  },
  EVM_RPC_1: {
    parse: rpcUrls,
    secret: true,
    usedBy: ["ingest"],
    meaning: "JSON-RPC endpoints of Ethereum, comma-separated, the preferred one first",
  },
  EVM_PORTAL_8453: portalOf("Base", "base-mainnet"),
  EVM_PORTAL_1: portalOf("Ethereum", "ethereum-mainnet"),
  DEPLOYMENTS_FILE: {
    parse: text(),
    usedBy: ["evm-dex", "lending", "ingest", "gateway"],
    meaning:
      "JSON file of contract addresses to use in place of the built-in registry; a chain that it adds has EVM_RPC_<id>, EVM_PORTAL_<id> and START_BLOCK_<id>",
  },
  CURATORS_FILE: {
    parse: text(),
    usedBy: ["lending"],
    meaning: "JSON file of curators' names and addresses to use in place of the built-in registry",
  },
  PRICE_STALE_SECONDS: {
    parse: integer({ min: 0, max: 86_400 }),
    default: "600",
    usedBy: ["lending"],
    meaning:
      "Seconds for which the last prices are used (and named in X-Data-Stale) while evm-dex does not answer; then USD is null",
  },
  START_BLOCK_8453: {
    parse: blockNumber,
    usedBy: ["ingest"],
    meaning:
      "First block of Base to index, without history before it; unset = the head, from which history grows back (HISTORY_DAYS)",
  },
  START_BLOCK_1: {
    parse: blockNumber,
    usedBy: ["ingest"],
    meaning: "The same of Ethereum",
  },
  ...SOLANA_SETTINGS,
  HISTORY_DAYS: {
    parse: integer({ min: 0, max: 3_650 }),
    usedBy: ["ingest"],
    meaning:
      "Days before the head that evm-dex indexes backwards while it serves; 0 = none; unset = 400 with EVM_PORTAL_<chain>, else 7",
  },
  HISTORY_DIR: {
    parse: text(),
    usedBy: ["ingest"],
    meaning:
      "Folder of the files in which history is indexed before it is merged, some 3 GB for a day of Base in each chunk that is indexed, and one more; unset = DATA_DIR",
  },
  HISTORY_THREADS: {
    parse: integer({ min: 1, max: 64 }),
    usedBy: ["ingest"],
    meaning:
      "Chunks of history that are indexed at a time, each in two threads of some 500 MB together; unset = one a core but one and 2 GB of memory, 4 at most",
  },
  EVM_RAW_DAYS: {
    parse: integer({ min: 0, max: 3_650 }),
    default: "8",
    usedBy: ["ingest"],
    meaning:
      "UTC days that single events and price changes of EVM DEXes are kept beside the open one (LP positions at least 31 days); minutes 40 days, hours 400, days for ever; 0 = all for ever, which Base fills 3 GB a day with",
  },
  ARCHIVE_DIR: {
    parse: text(),
    usedBy: ["ingest"],
    meaning:
      "Folder where the ingest of EVM DEXes keeps each final day's events, LP events and prices as Parquet files before they are removed; unset = none",
  },
  PORTAL_REQUESTS_PER_SECOND: {
    parse: integer({ min: 1, max: 1_000 }),
    default: "2",
    usedBy: ["ingest"],
    meaning:
      "Requests a second to one portal at most, of all threads of an ingest together (EVM_PORTAL_<chain>, SOLANA_PORTAL). The public portal allows an address two; for one of your own 50 are none too many",
  },
  BACKFILL_WRITE_MS: {
    parse: integer({ min: 50, max: 600_000 }),
    default: "30000",
    usedBy: ["ingest"],
    meaning:
      "Longest that events which evm-dex catches up with wait for a write, in milliseconds; enough of them are written sooner, and at the head each block is. A kill has as much reading done again; more often writes more bytes: 250 wrote four times as many",
  },
  HEAD_POLL_MS: {
    parse: integer({ min: 50, max: 600_000 }),
    default: "250",
    usedBy: ["ingest"],
    meaning:
      "Least milliseconds between two looks at the head of an EVM chain (half of it after a look that came too early). Regular blocks are looked at when the next one is due, so this sets the pace only where none is; above the block time several blocks are read at once, which costs less: 60,000 on Base reads logs once a minute",
  },
  QUIET_POOLS_PER_SECOND: {
    parse: integer({ min: 0, max: 10_000 }),
    default: "50",
    usedBy: ["ingest"],
    meaning:
      "How many pools without an event since the first indexed block are read a second, once, after the backfill; 0 = none",
  },
  WALLETS_PER_HOUR: {
    parse: integer({ min: 0, max: 100_000 }),
    default: "60",
    usedBy: ["ingest"],
    meaning:
      "Requested wallets whose LP positions older than the first indexed block are read an hour, each by some 50 eth_calls for 20,000 pools; 0 = none: their totals stay null",
  },
  MAX_LOG_ADDRESSES: {
    parse: integer({ min: 1, max: 100_000 }),
    default: "1000",
    usedBy: ["ingest"],
    meaning:
      "How many contracts one eth_getLogs names (transfers of LP tokens are requested by address); less where a provider refuses so many",
  },
  LENDING_REFRESH_SECONDS: {
    parse: integer({ min: 10, max: 86_400 }),
    default: "600",
    usedBy: ["ingest"],
    meaning:
      "Seconds after which the state of a market or vault is read again though no event spoke of it (gifts of tokens, or a hook of an EVK vault that changed its mind)",
  },
  INGEST_METRICS_PORT: {
    parse: port(),
    default: "0",
    usedBy: ["ingest"],
    meaning: "Port on which an ingest serves /metrics and /livez; 0 = none",
  },
  ...PAYMENT_SETTINGS,
  DEVNET_PORT: {
    parse: port(),
    default: "0",
    usedBy: ["all-in-one"],
    meaning: "Port of the local chain that npm start makes without RPC endpoints; 0 = a free one",
  },
  LEASE_TTL_MS: {
    parse: integer({ min: 200, max: 600_000 }),
    default: "10000",
    usedBy: ["ingest"],
    meaning: "Milliseconds after which a silent ingest's chain is taken over by a waiting one",
  },
  GATEWAY_WORKERS: {
    parse: integer({ min: 1, max: 64 }),
    default: "1",
    usedBy: ["gateway"],
    meaning:
      "Processes that answer behind the gateway's port, for machines with more cores than one; they share limits, and where requests are sold they need Redis for it",
  },
  RESPONSE_CACHE_MB: {
    parse: integer({ min: 0, max: 65_536 }),
    default: "64",
    usedBy: ["gateway"],
    meaning:
      "Memory in MB for responses that are reused while they are fresh (until the next block), and for sharing one request among all clients that send it at the same time; 0 = every request goes to its service",
  },
  DEADLINE_MS: {
    parse: integer({ min: 1, max: 600_000 }),
    default: "10000",
    usedBy: ["gateway", ...services],
    meaning: "Milliseconds after which a request is answered with 408",
  },
  DRAIN_DELAY_MS: {
    parse: milliseconds,
    default: "0",
    usedBy: ["gateway", ...services, "facilitator"],
    meaning:
      "Milliseconds between reporting not ready and refusing connections, for load balancers to notice",
  },
  DRAIN_TIMEOUT_MS: {
    parse: milliseconds,
    default: "12000",
    usedBy: ["gateway", ...services, "facilitator"],
    meaning:
      "Milliseconds that requests in flight may take to finish at shutdown; above DEADLINE_MS none is cut",
  },
  LOG_LEVEL: {
    parse: oneOf(LOG_LEVELS),
    default: "info",
    usedBy: [...allProcesses, "facilitator"],
    meaning: `Least severe level that is logged: ${LOG_LEVELS.join(", ")}`,
  },
  LOG_FORMAT: {
    parse: oneOf(["json", "text"]),
    usedBy: [...allProcesses, "facilitator", "all-in-one"],
    meaning:
      "Form of log lines: json, an object a line for log collectors, or text for people; unset = text for npm start and where standard output is a terminal, else json",
  },
  ...TRACING_SETTINGS,
} as const satisfies Settings;

function portalOf(chain: string, dataset: string) {
  return {
    parse: portalUrl,
    // A private portal's URL may hold a key.
    secret: true,
    usedBy: ["ingest"],
    meaning: `SQD Portal to read the history of ${chain} from, as the URL of its dataset (https://portal.sqd.dev/datasets/${dataset}); its operator sees which contracts are indexed; or a folder of recorded blocks (file:///…); unset = history by JSON-RPC`,
  } as const;
}

function upstreamUrls(name: ServiceName) {
  return {
    parse: list(url(["http", "https"])),
    default: `http://127.0.0.1:${SERVICE_PORTS[name].http}`,
    usedBy: ["gateway"],
    meaning: `HTTP base URLs of the ${name} service's replicas, comma-separated`,
  } as const;
}

function peerAddress(name: ServiceName, usedBy: readonly string[]) {
  return {
    parse: list(grpcAddress()),
    default: `127.0.0.1:${SERVICE_PORTS[name].grpc}`,
    usedBy,
    meaning: `gRPC addresses host:port of the ${name} service's replicas, comma-separated`,
  } as const;
}

export type SettingName = keyof typeof SETTINGS;
type Chosen<N extends SettingName> = EnvOf<Pick<typeof SETTINGS, N>>;

/** Reads the named variables of SETTINGS; errors as readEnv. */
export function readSettings<N extends SettingName>(env: Environment, names: readonly N[]): Chosen<N> {
  const spec = Object.fromEntries(names.map((name) => [name, SETTINGS[name]])) as unknown as Pick<
    typeof SETTINGS,
    N
  >;
  return readEnv(env, spec);
}

/** What runService needs to listen, log and stop. */
export interface ServiceConfig {
  readonly bindHost: string;
  /** 0 = any free port. */
  readonly httpPort: number;
  readonly grpcPort: number;
  /** Each is accepted on both ports; the first is sent to peers. Absent = no request needs a token. */
  readonly serviceTokens?: readonly string[] | undefined;
  readonly deadlineMs: number;
  readonly drainDelayMs: number;
  readonly drainTimeoutMs: number;
  readonly logLevel: LogLevel;
}

/** Reads ServiceConfig for one service, with its own default ports. */
export function readServiceConfig(name: ServiceName, env: Environment): ServiceConfig {
  const settings = readSettings(env, [
    "BIND_HOST",
    "HTTP_PORT",
    "GRPC_PORT",
    "SERVICE_TOKEN",
    "DEADLINE_MS",
    "DRAIN_DELAY_MS",
    "DRAIN_TIMEOUT_MS",
    "LOG_LEVEL",
    "LOG_FORMAT",
  ]);
  return {
    bindHost: settings.BIND_HOST,
    httpPort: settings.HTTP_PORT ?? SERVICE_PORTS[name].http,
    grpcPort: settings.GRPC_PORT ?? SERVICE_PORTS[name].grpc,
    serviceTokens: settings.SERVICE_TOKEN,
    deadlineMs: settings.DEADLINE_MS,
    drainDelayMs: settings.DRAIN_DELAY_MS,
    drainTimeoutMs: settings.DRAIN_TIMEOUT_MS,
    logLevel: settings.LOG_LEVEL,
  };
}

/** One row a setting for the documentation; no values, so secrets cannot leak. */
export function describeSettings(): {
  name: string;
  default: string;
  meaning: string;
  usedBy: readonly string[];
}[] {
  return Object.entries(SETTINGS as Settings).map(([name, setting]) => ({
    name,
    default: setting.default ?? "",
    meaning: setting.meaning,
    usedBy: setting.usedBy,
  }));
}
