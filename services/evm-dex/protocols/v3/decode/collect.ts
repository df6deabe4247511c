import { readUint } from "../../../../shared/evm/abi.ts";
import type { Decoder } from "../../protocol.ts";
import type { CollectEvent } from "../events.ts";

/** Collect(address indexed owner, address recipient, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount0, uint128 amount1) */
export const collect: Decoder<CollectEvent> = {
  topic: "0x70935338e69775456a85ddef226c395fb668b63fa0115f5f20610b388e6ca9c0",
  indexed: 3,
  words: 3,
  decode: ({ data }) => ({ kind: "collect", amount0: readUint(data, 1), amount1: readUint(data, 2) }),
};
