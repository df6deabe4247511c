import { readFileSync } from "node:fs";

/** How large a chain is. */
export interface ChainModel {
  readonly blockSeconds: number;
  readonly eventsABlock: number;
  /** JSON of one event's log. */
  readonly logBytes: number;
  /** JSON of a block with its transactions. */
  readonly blockBytes: number;
  /** What gzip leaves of both. */
  readonly packedShare: number;
  readonly portalBytesABlock: number;
  /** Tokens of the pools that a discovery finds. */
  readonly tokens: number;
  /** Whether blooms are empty enough to disprove a response without logs. */
  readonly bloomsTell: boolean;
}

export interface Plan {
  readonly name: string;
  readonly unitsAMonth?: number;
  readonly unitsASecond?: number;
  /** Of one eth_getLogs. */
  readonly maxBlocks?: number;
  readonly usdAMillion?: number;
  readonly usdAMonth?: number;
  readonly basis: string;
}

export interface Provider {
  readonly name: string;
  readonly hosts: readonly string[];
  readonly unit: string;
  /** Units of a call by method; every other method costs `otherCalls`. */
  readonly weights: Readonly<Record<string, number>>;
  readonly otherCalls: number;
  readonly source: string;
  readonly basis: string;
  readonly plans: readonly Plan[];
}

interface ChainFile {
  readonly chains: Readonly<Record<string, ChainModel>>;
  readonly others: ChainModel;
}

/** When the figures were collected. */
export const PROVIDERS_DATE: string = readData<{ date: string }>("providers.json").date;

export function readProviders(): readonly Provider[] {
  return readData<{ providers: readonly Provider[] }>("providers.json").providers;
}

/** The provider of a host (with or without a port); undefined for an own node or an unknown one. */
export function findProvider(host: string): Provider | undefined {
  const name = host.replace(/:\d+$/, "").toLowerCase();
  return readProviders().find(({ hosts }) =>
    hosts.some((each) => name === each || name.endsWith(`.${each}`)),
  );
}

export function chainModel(chainId: number): ChainModel {
  const { chains, others } = readData<ChainFile>("chains.json");
  return chains[chainId] ?? others;
}

function readData<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`./${name}`, import.meta.url), "utf8")) as T;
}
