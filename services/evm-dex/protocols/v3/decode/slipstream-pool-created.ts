import { readAddress, readTopicAddress, readTopicInt } from "../../../../shared/evm/abi.ts";
import type { Decoder, PoolCreatedEvent } from "../../protocol.ts";

/** PoolCreated(address indexed token0, address indexed token1, int24 indexed tickSpacing, address pool) */
export const slipstreamPoolCreated: Decoder<PoolCreatedEvent> = {
  topic: "0xab0d57f0df537bb25e80245ef7748fa62353808c54d6e528a9dd20887aed9ac2",
  indexed: 3,
  words: 1,
  decode: ({ topics, data }) => ({
    token0: readTopicAddress(topics[1]),
    token1: readTopicAddress(topics[2]),
    fee: null,
    tickSpacing: readTopicInt(topics[3]),
    pool: readAddress(data, 0),
  }),
};
