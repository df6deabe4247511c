import { readUint } from "../../../../shared/evm/abi.ts";
import type { Decoder } from "../../protocol.ts";
import type { CollectEvent } from "../events.ts";

/** CollectFees(address indexed recipient, uint128 amount0, uint128 amount1): Slipstream's gauge takes its fees. */
export const collectFees: Decoder<CollectEvent> = {
  topic: "0x205860e66845f2bbc0966bfab80db9bf93fca93862ea2b9fcf6945748352b4a3",
  indexed: 1,
  words: 2,
  decode: ({ data }) => ({ kind: "collect_fees", amount0: readUint(data, 0), amount1: readUint(data, 1) }),
};
