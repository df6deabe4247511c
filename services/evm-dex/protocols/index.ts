import { aerodromeV2 } from "./aerodrome-v2.ts";
import { pancakeV3 } from "./pancake-v3.ts";
import { createDecode, type Kind, type Log, type PoolEvent, type Protocol } from "./protocol.ts";
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

const decoders = new Map<Protocol, (log: Log) => PoolEvent | undefined>(
  Object.values(PROTOCOLS).map((protocol) => [protocol, createDecode(protocol.decoders)]),
);

/** The event of a pool's log, or undefined where it is none of its protocol's. */
export function decodeEvent(protocol: Protocol, log: Log): PoolEvent | undefined {
  return decoders.get(protocol)?.(log);
}
