import { readInt, readSigned, readUint } from "../../../../shared/evm/abi.ts";
import type { Decoder } from "../../protocol.ts";
import type { SwapEvent } from "../events.ts";

/** Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick) */
export const swap: Decoder<SwapEvent> = {
  topic: "0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67",
  indexed: 2,
  words: 5,
  decode: ({ data }) => ({
    kind: "swap",
    amount0: readSigned(data, 0),
    amount1: readSigned(data, 1),
    sqrtPriceX96: readUint(data, 2),
    liquidity: readUint(data, 3),
    tick: readInt(data, 4),
  }),
};
