import { readUint } from "../../../../shared/evm/abi.ts";
import type { Decoder } from "../../protocol.ts";
import type { LiquidityEvent } from "../events.ts";

/** Mint(address indexed sender, uint256 amount0, uint256 amount1) */
export const mint: Decoder<LiquidityEvent> = {
  topic: "0x4c209b5fc8ad50758f13e2e1088ba56a560dff690a1c6fef26394f4c03821c4f",
  indexed: 1,
  words: 2,
  decode: ({ data }) => ({ kind: "mint", amount0: readUint(data, 0), amount1: readUint(data, 1) }),
};
