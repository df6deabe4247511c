import { readFileSync } from "node:fs";
import { knowDeployedChains } from "../shared/evm/deployed-chains.ts";
import { protocolOf } from "./protocols/index.ts";
import { KINDS } from "./protocols/protocol.ts";
import {
  Malformed,
  readEvmAddress,
  readInteger,
  readItems,
  readObject,
  readOneOf,
  readPositive,
  readText,
} from "./read-json.ts";

export interface Factory {
  readonly address: `0x${string}`;
  readonly dexName: string;
  readonly family: (typeof FAMILIES)[number];
  readonly kind: (typeof KINDS)[number];
  /** First block that can hold one of its PoolCreated events. */
  readonly fromBlock: number;
  /** The voter that creates gauges for its pools, and the token that gauges pay; absent where there are none. */
  readonly rewards?: { readonly voter: `0x${string}`; readonly token: `0x${string}` } | undefined;
}

/** A stablecoin's USD feed: Chainlink's proxy, or an aggregator. */
export interface Feed {
  readonly token: `0x${string}`;
  readonly proxy: `0x${string}`;
}

export interface ChainDeployments {
  readonly chainId: number;
  readonly name: string;
  /** Anchors of the price walk. */
  readonly stablecoins: readonly `0x${string}`[];
  /** What values them; those without a feed value each other. */
  readonly feeds?: readonly Feed[] | undefined;
  readonly factories: readonly Factory[];
}

const FAMILIES = ["dexa", "dexb", "clones"] as const;

/**
 * The chains, factories and stablecoins to index: from `path`, else the built-in mainnet registry. An error names the
 * file and the fault.
 */
export function loadDeployments(path: string | undefined): readonly ChainDeployments[] {
  const source = path ?? new URL("./deployments.json", import.meta.url);
  const file = readJson(source);
  knowDeployedChains(path);
  try {
    return readFile(file);
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    throw new Error(`Cannot read deployments from ${path ?? "the built-in registry"}: ${error.message}`);
  }
}

// By hand, where the endpoints' parameters have schemas: a schema library takes a third of the ingest's start to load.

/** Ignores the sections of other services in the same file. */
function readFile(file: unknown): ChainDeployments[] {
  const isOptional = Object.hasOwn(Object(file), "lending");
  const required = isOptional ? [] : ["evmDex"];
  const { evmDex } = readObject(file, { at: "", required, others: "allowed" });
  if (evmDex === undefined) return [];
  const { chains } = readObject(evmDex, { at: "evmDex", required: ["chains"] });
  // Nothing is indexed of a chain without a factory: lending may be configured alone.
  return readItems(chains, { at: "evmDex.chains", min: 0 }, readChain).filter(
    ({ factories }) => factories.length > 0,
  );
}

function readChain(value: unknown, at: string): ChainDeployments {
  const required = ["chainId", "name", "stablecoins", "factories"];
  const chain = readObject(value, { at, required, optional: ["blockSeconds"] });
  // Kept by knowDeployedChains.
  if (chain.blockSeconds !== undefined) readPositive(chain.blockSeconds, `${at}.blockSeconds`);
  const stablecoins = readItems(chain.stablecoins, { at: `${at}.stablecoins`, min: 1 }, readStablecoin);
  return {
    chainId: readInteger(chain.chainId, { at: `${at}.chainId`, min: 1 }),
    name: readText(chain.name, `${at}.name`),
    stablecoins: stablecoins.map(({ token }) => token),
    feeds: stablecoins.flatMap(({ token, proxy }) => (proxy === undefined ? [] : [{ token, proxy }])),
    factories: readItems(chain.factories, { at: `${at}.factories`, min: 0 }, readFactory),
  };
}

/** An address, or an object with the address and its feed. */
function readStablecoin(value: unknown, at: string): { token: `0x${string}`; proxy?: `0x${string}` } {
  if (typeof value === "string") return { token: readEvmAddress(value, at) };
  const { address, feed } = readObject(value, { at, required: ["address", "feed"] });
  return { token: readEvmAddress(address, `${at}.address`), proxy: readEvmAddress(feed, `${at}.feed`) };
}

function readFactory(value: unknown, at: string): Factory {
  const required = ["address", "dexName", "family", "kind", "fromBlock"];
  const factory = readObject(value, { at, required, optional: ["rewards"] });
  return {
    address: readEvmAddress(factory.address, `${at}.address`),
    dexName: readText(factory.dexName, `${at}.dexName`),
    family: readOneOf(factory.family, { at: `${at}.family`, allowed: FAMILIES }),
    kind: readOneOf(factory.kind, { at: `${at}.kind`, allowed: KINDS }),
    fromBlock: readInteger(factory.fromBlock, { at: `${at}.fromBlock`, min: 0 }),
    ...(factory.rewards !== undefined && { rewards: readRewards(factory.rewards, `${at}.rewards`) }),
  };
}

function readRewards(value: unknown, at: string): NonNullable<Factory["rewards"]> {
  const { voter, token } = readObject(value, { at, required: ["voter", "token"] });
  return { voter: readEvmAddress(voter, `${at}.voter`), token: readEvmAddress(token, `${at}.token`) };
}

function readJson(source: string | URL): unknown {
  try {
    return JSON.parse(readFileSync(source, "utf8"));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`Cannot read deployments from ${source}: ${reason}`, { cause });
  }
}

/** The protocol generation of a factory's pools, as /evm/dexes names it. */
export function dexTypeOf(deployed: Factory): "v2" | "v3" {
  return protocolOf(deployed.kind).generation;
}
