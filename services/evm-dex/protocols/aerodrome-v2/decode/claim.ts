import { readTopicAddress } from "../../../../shared/evm/abi.ts";
import type { Decoder } from "../../protocol.ts";
import type { ClaimEvent } from "../events.ts";

/**
 * Claim(address indexed sender, address indexed recipient, uint256 amount0, uint256 amount1): the sender's fees, to
 * any recipient.
 */
export const claim: Decoder<ClaimEvent> = {
  topic: "0x865ca08d59f5cb456e85cd2f7ef63664ea4f73327414e9d8152c4158b0e94645",
  indexed: 2,
  words: 2,
  decode: ({ topics }) => ({ kind: "claim", owner: readTopicAddress(topics[1]) }),
};
