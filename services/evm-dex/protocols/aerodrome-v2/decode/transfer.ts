import { readTopicAddress, readUint } from "../../../../shared/evm/abi.ts";
import type { Decoder } from "../../protocol.ts";
import type { TransferEvent } from "../events.ts";

/** Transfer(address indexed from, address indexed to, uint256 value) of the pool as LP token: the topic of every ERC-20. */
export const transfer: Decoder<TransferEvent> = {
  topic: "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef",
  indexed: 2,
  words: 1,
  decode: ({ topics, data }) => ({
    kind: "transfer",
    from: readTopicAddress(topics[1]),
    to: readTopicAddress(topics[2]),
    amount: readUint(data, 0),
  }),
};
