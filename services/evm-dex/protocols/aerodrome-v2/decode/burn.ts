import { readUint } from "../../../../shared/evm/abi.ts";
import type { Decoder } from "../../protocol.ts";
import type { LiquidityEvent } from "../events.ts";

/** Burn(address indexed sender, address indexed to, uint256 amount0, uint256 amount1) */
export const burn: Decoder<LiquidityEvent> = {
  topic: "0x5d624aa9c148153ab3446c1b154f660ee7701e549fe9b62dab7171b1c80e6fa2",
  indexed: 2,
  words: 2,
  decode: ({ data }) => ({ kind: "burn", amount0: readUint(data, 0), amount1: readUint(data, 1) }),
};
