import { readUint } from "../../../../shared/evm/abi.ts";
import type { Decoder } from "../../protocol.ts";
import type { FeesEvent } from "../events.ts";

/** Fees(address indexed sender, uint256 amount0, uint256 amount1) */
export const fees: Decoder<FeesEvent> = {
  topic: "0x112c256902bf554b6ed882d2936687aaeb4225e8cd5b51303c90ca6cf43a8602",
  indexed: 1,
  words: 2,
  decode: ({ data }) => ({ kind: "fees", amount0: readUint(data, 0), amount1: readUint(data, 1) }),
};
