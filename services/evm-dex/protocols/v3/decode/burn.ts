import { readTopicInt, readUint } from "../../../../shared/evm/abi.ts";
import type { Decoder } from "../../protocol.ts";
import type { LiquidityEvent } from "../events.ts";

/** Burn(address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1) */
export const burn: Decoder<LiquidityEvent> = {
  topic: "0x0c396cd989a39f4459b5fa1aed6a9a8dcdbc45908acfd67e028cd568da98982c",
  indexed: 3,
  words: 3,
  decode: ({ topics, data }) => ({
    kind: "burn",
    tickLower: readTopicInt(topics[2]),
    tickUpper: readTopicInt(topics[3]),
    liquidity: readUint(data, 0),
    amount0: readUint(data, 1),
    amount1: readUint(data, 2),
  }),
};
