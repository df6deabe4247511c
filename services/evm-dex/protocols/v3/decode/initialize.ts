import { readInt, readUint } from "../../../../shared/evm/abi.ts";
import type { Decoder } from "../../protocol.ts";
import type { InitializeEvent } from "../events.ts";

/** Initialize(uint160 sqrtPriceX96, int24 tick) */
export const initialize: Decoder<InitializeEvent> = {
  topic: "0x98636036cb66a9c19a37435efc1e90142190214e8abeb821bdba3f2990dd4c95",
  indexed: 0,
  words: 2,
  decode: ({ data }) => ({ kind: "initialize", sqrtPriceX96: readUint(data, 0), tick: readInt(data, 1) }),
};
