import { readUint } from "../../../../shared/evm/abi.ts";
import type { Decoder } from "../../protocol.ts";
import type { FlashEvent } from "../events.ts";

/** Flash(address indexed sender, address indexed recipient, uint256 amount0, uint256 amount1, uint256 paid0, uint256 paid1) */
export const flash: Decoder<FlashEvent> = {
  topic: "0xbdbdb71d7860376ba52b25a5028beea23581364a40522f6bcfb86bb1f2dca633",
  indexed: 2,
  words: 4,
  decode: ({ data }) => ({ kind: "flash", paid0: readUint(data, 2), paid1: readUint(data, 3) }),
};
