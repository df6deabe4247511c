import { readUint } from "../../../../shared/evm/abi.ts";
import type { Decoder } from "../../protocol.ts";
import type { SwapEvent } from "../events.ts";

/** Swap(address indexed sender, address indexed to, uint256 amount0In, uint256 amount1In, uint256 amount0Out, uint256 amount1Out) */
export const swap: Decoder<SwapEvent> = {
  topic: "0xb3e2773606abfd36b5bd91394b3a54d1398336c65005baf7bf7a05efeffaf75b",
  indexed: 2,
  words: 4,
  decode: ({ data }) => ({
    kind: "swap",
    amount0In: readUint(data, 0),
    amount1In: readUint(data, 1),
    amount0Out: readUint(data, 2),
    amount1Out: readUint(data, 3),
  }),
};
