import { readAddress, readInt, readTopicAddress, readTopicInt } from "../../../../shared/evm/abi.ts";
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

/** PoolCreated(address indexed token0, address indexed token1, uint24 indexed fee, int24 tickSpacing, address pool) */
export const poolCreated: Decoder<PoolCreatedEvent> = {
  topic: "0x783cca1c0412dd0d695e784568c96da2e9c22ff989357a2e8b1d9b2b4e6b7118",
  indexed: 3,
  words: 2,
  decode: ({ topics, data }) => ({
    token0: readTopicAddress(topics[1]),
    token1: readTopicAddress(topics[2]),
    fee: readTopicInt(topics[3]),
    tickSpacing: readInt(data, 0),
    pool: readAddress(data, 1),
  }),
};
