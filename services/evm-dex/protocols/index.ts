import { aerodromeV2 } from "./aerodrome-v2.ts";
import { pancakeV3 } from "./pancake-v3.ts";
import {
  createDecode,
  type Kind,
  type Log,
  type PoolEvent,
  type PoolNamed,
  type Protocol,
} from "./protocol.ts";
import { slipstream } from "./slipstream.ts";
import { uniswapV3 } from "./uniswap-v3.ts";

const PROTOCOLS: Readonly<Record<Kind, Protocol>> = {
  "uniswap-v3": uniswapV3,
  "pancake-v3": pancakeV3,
  slipstream,
  "aerodrome-v2": aerodromeV2,
};

/** The protocol of a pool or factory. Throws for a kind that a newer version stored. */
export function protocolOf(kind: string): Protocol {
  const protocol = PROTOCOLS[kind as Kind];
  if (protocol === undefined) throw new Error(`Pools of kind ${kind} are not known to this version.`);
  return protocol;
}

/** What a protocol makes of a log, by who emitted it; undefined where it is none of its events. */
export interface Reader {
  pool(log: Log): PoolEvent | undefined;
  factory(log: Log): PoolNamed<PoolEvent> | undefined;
  /** A new gauge. */
  gaugeCreated(log: Log): PoolNamed<PoolEvent & { readonly gauge: string }> | undefined;
  /** What its voter says of a gauge. */
  voter(log: Log): (PoolEvent & { readonly gauge: string }) | undefined;
  gauge(log: Log): PoolEvent | undefined;
}

const readers = new Map<Protocol, Reader>(
  Object.values(PROTOCOLS).map((protocol) => [protocol, createReader(protocol)]),
);

function createReader({ decoders, factoryDecoders, gauges, lpTokens }: Protocol): Reader {
  return {
    pool: createDecode(lpTokens === undefined ? decoders : [...decoders, lpTokens.transfer]),
    factory: createDecode(factoryDecoders ?? []),
    gaugeCreated: createDecode(gauges === undefined ? [] : [gauges.created]),
    voter: createDecode(gauges?.voter ?? []),
    gauge: createDecode(gauges?.own ?? []),
  };
}

export function readerOf(protocol: Protocol): Reader {
  return readers.get(protocol) as Reader;
}

/** The event of a pool's log, or undefined where it is none of its protocol's. */
export function decodeEvent(protocol: Protocol, log: Log): PoolEvent | undefined {
  return readerOf(protocol).pool(log);
}
