import { aerodromeV2 } from "./aerodrome-v2.ts";
import { pancakeV3 } from "./pancake-v3.ts";
import {
  createDecoder,
  type EventForPool,
  type Kind,
  type Log,
  type PoolEvent,
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

/** The protocol of a pool or factory. Throws for an unknown kind, as a newer version may have stored. */
export function protocolOf(kind: string): Protocol {
  const protocol = PROTOCOLS[kind as Kind];
  if (protocol === undefined) throw new Error(`Pools of kind ${kind} are not known to this version.`);
  return protocol;
}

/** Decodes logs of one protocol by their emitter; undefined for any other event. */
interface LogDecoder {
  pool(log: Log): PoolEvent | undefined;
  factory(log: Log): EventForPool<PoolEvent> | undefined;
  /** A new gauge. */
  gaugeCreated(log: Log): EventForPool<PoolEvent & { readonly gauge: string }> | undefined;
  /** A voter's event about a gauge. */
  voter(log: Log): (PoolEvent & { readonly gauge: string }) | undefined;
  gauge(log: Log): PoolEvent | undefined;
}

const logDecoders = new Map<Protocol, LogDecoder>(
  Object.values(PROTOCOLS).map((protocol) => [protocol, createLogDecoder(protocol)]),
);

function createLogDecoder({ decoders, factoryDecoders, gauges, lpTokens }: Protocol): LogDecoder {
  return {
    pool: createDecoder(lpTokens === undefined ? decoders : [...decoders, lpTokens.transfer]),
    factory: createDecoder(factoryDecoders ?? []),
    gaugeCreated: createDecoder(gauges === undefined ? [] : [gauges.created]),
    voter: createDecoder(gauges?.voter ?? []),
    gauge: createDecoder(gauges?.own ?? []),
  };
}

export function logDecoderOf(protocol: Protocol): LogDecoder {
  return logDecoders.get(protocol) as LogDecoder;
}

/** The event of a pool's log; undefined for a log of another protocol. */
export function decodeEvent(protocol: Protocol, log: Log): PoolEvent | undefined {
  return logDecoderOf(protocol).pool(log);
}
