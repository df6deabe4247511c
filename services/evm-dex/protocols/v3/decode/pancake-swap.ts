import { readUint } from "../../../../shared/evm/abi.ts";
import type { Decoder } from "../../protocol.ts";
import type { PancakeSwapEvent } from "../events.ts";
import { swap } from "./swap.ts";

/** Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick, uint128 protocolFeesToken0, uint128 protocolFeesToken1) */
export const pancakeSwap: Decoder<PancakeSwapEvent> = {
  topic: "0x19b47279256b2a23a1665c810c8d55a1758940ee09377d4f8d26497a3577dc83",
  indexed: 2,
  words: 7,
  decode: (log) => ({
    ...swap.decode(log),
    protocolFees: { amount0: readUint(log.data, 5), amount1: readUint(log.data, 6) },
  }),
};
