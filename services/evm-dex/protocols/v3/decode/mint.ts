import { readTopicInt, readUint } from "../../../../shared/evm/abi.ts";
import type { Decoder } from "../../protocol.ts";
import type { LiquidityEvent } from "../events.ts";

/** Mint(address sender, address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1) */
export const mint: Decoder<LiquidityEvent> = {
  topic: "0x7a53080ba414158be7ec69b987b5fb7d07dee101fe85488f0853ae16239d0bde",
  indexed: 3,
  words: 4,
  decode: ({ topics, data }) => ({
    kind: "mint",
    tickLower: readTopicInt(topics[2]),
    tickUpper: readTopicInt(topics[3]),
    liquidity: readUint(data, 1),
    amount0: readUint(data, 2),
    amount1: readUint(data, 3),
  }),
};
