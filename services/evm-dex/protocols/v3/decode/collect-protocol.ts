import { readUint } from "../../../../shared/evm/abi.ts";
import type { Decoder } from "../../protocol.ts";
import type { CollectEvent } from "../events.ts";

/** CollectProtocol(address indexed sender, address indexed recipient, uint128 amount0, uint128 amount1) */
export const collectProtocol: Decoder<CollectEvent> = {
  topic: "0x596b573906218d3411850b26a6b437d6c4522fdb43d2d2386263f86d50b8b151",
  indexed: 2,
  words: 2,
  decode: ({ data }) => ({
    kind: "collect_protocol",
    amount0: readUint(data, 0),
    amount1: readUint(data, 1),
  }),
};
