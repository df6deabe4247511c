import { fileURLToPath } from "node:url";
import { loadPackageDefinition, type ServiceClientConstructor, type ServiceDefinition } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import type { PriceOrigin } from "./types.ts";

/** Field names as protobuf's JSON form has them; absent optional fields are absent. */
export interface PricesRequestMessage {
  chainId: number;
  tokens: string[];
  block?: number;
}
export interface TokenPriceMessage {
  token: string;
  usd?: number;
  hops: number;
  depthUsd?: number;
  origin?: PriceOrigin;
}
export interface PricesResponseMessage {
  block: number;
  blockTime: number;
  prices: TokenPriceMessage[];
}
export interface ChainStatusMessage {
  chainId: number;
  name: string;
  indexedBlock?: number;
  indexedBlockHash: string;
  indexedTime?: number;
  fromBlock?: number;
  chainHead?: number;
  lagBlocks?: number;
  state: string;
  share?: number;
  etaSeconds?: number;
  why: string;
  since?: number;
  historyFrom?: number;
  historySince?: number;
  historyEtaSeconds?: number;
  swapShare?: number;
  finalBlock?: number;
}
export interface StatusResponseMessage {
  service: string;
  mode: string;
  version: string;
  chains: ChainStatusMessage[];
  peers: { name: string; state: string }[];
}
export interface HeadMessage {
  chainId: number;
  block: number;
  hash: string;
  time: number;
  version: string;
  recent: { block: number; hash: string }[];
}
export interface HealthRequestMessage {
  service: string;
}
export interface HealthResponseMessage {
  status: "UNKNOWN" | "SERVING" | "NOT_SERVING" | "SERVICE_UNKNOWN";
}

/** grpc-js rejects messages over 4 MiB by default: prices of hundreds of tokens and wide statuses must pass. */
export const MESSAGE_LIMITS = {
  "grpc.max_receive_message_length": 64 * 1024 * 1024,
  "grpc.max_send_message_length": 64 * 1024 * 1024,
} as const;

interface Protocols {
  readonly prices: ServiceClientConstructor;
  readonly status: ServiceClientConstructor;
  readonly heads: ServiceClientConstructor;
  readonly health: ServiceClientConstructor;
}

let loaded: Protocols | undefined;

/** The services of proto/, read at first use. The folder has the same relative place in the sources and in dist. */
export function loadProtocols(): Protocols {
  if (loaded !== undefined) return loaded;
  const folder = fileURLToPath(new URL("../../../proto/", import.meta.url));
  const definition = loadSync(["prices.proto", "status.proto", "heads.proto", "health.proto"], {
    includeDirs: [folder],
    // Block numbers and Unix seconds stay far below 2^53.
    longs: Number,
    enums: String,
    defaults: true,
    arrays: true,
  });
  const root = loadPackageDefinition(definition) as unknown as {
    chaintables: { v1: Record<"Prices" | "Status" | "Heads", ServiceClientConstructor> };
    grpc: { health: { v1: { Health: ServiceClientConstructor } } };
  };
  const { Prices, Status, Heads } = root.chaintables.v1;
  loaded = { prices: Prices, status: Status, heads: Heads, health: root.grpc.health.v1.Health };
  return loaded;
}

/** `chaintables.v1.Prices` of `/chaintables.v1.Prices/GetPrices`. */
export function fullName(service: ServiceDefinition): string {
  const [method] = Object.values(service);
  return method?.path.split("/")[1] ?? "";
}
