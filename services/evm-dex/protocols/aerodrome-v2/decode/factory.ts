import { readAddress, readInt, readTopicAddress } from "../../../../shared/evm/abi.ts";
import type { Decoder, EventForPool, PoolCreatedEvent } from "../../protocol.ts";
import type { CustomFeeEvent } from "../events.ts";

/**
 * PoolCreated(address indexed token0, address indexed token1, bool indexed stable, address pool, uint256): the
 * factory has the fee.
 */
export const poolCreated: Decoder<PoolCreatedEvent> = {
  topic: "0x2128d88d14c80cb081c1252a5acff7a264671bf199ce226b53788fb26065005e",
  indexed: 3,
  words: 2,
  decode: ({ topics, data }) => ({
    pool: readAddress(data, 0),
    token0: readTopicAddress(topics[1]),
    token1: readTopicAddress(topics[2]),
    fee: null,
    tickSpacing: 0,
    stable: BigInt(topics[3] ?? 0) !== 0n,
  }),
};

/** SetCustomFee(address indexed pool, uint256 fee) */
export const setCustomFee: Decoder<EventForPool<CustomFeeEvent>> = {
  topic: "0xae468ce586f9a87660fdffc1448cee942042c16ae2f02046b134b5224f31936b",
  indexed: 1,
  words: 1,
  decode: ({ topics, data }) => ({
    pool: readTopicAddress(topics[1]),
    event: { kind: "set_custom_fee", fee: readInt(data, 0) },
  }),
};
