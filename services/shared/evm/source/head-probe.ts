import type { RpcRequest } from "../../rpc-client/pending-request.ts";
import type { HeadBlock } from "../head-watch/port.ts";
import { parseQuantity, toQuantity } from "../hex.ts";
import { parseBlock, parseHeader, untrustedFault } from "./parse.ts";
import { parseFirstReply } from "./requests.ts";

/** Requests the number of one endpoint's last block. */
export function createBlockNumberRequest(): RpcRequest<number> {
  return {
    calls: [{ method: "eth_blockNumber", params: [] }],
    read: (replies) =>
      parseFirstReply(replies, (result) => {
        const number = parseQuantity(result);
        return number === undefined ? untrustedFault("eth_blockNumber gave no number") : { value: number };
      }),
  };
}

/** Requests a block that one endpoint may not have yet: then null, and no other endpoint is asked. */
export function createNextBlockRequest(number: number, withSenders: boolean): RpcRequest<HeadBlock | null> {
  return {
    calls: [{ method: "eth_getBlockByNumber", params: [toQuantity(number), withSenders] }],
    read(replies) {
      const outcome = parseFirstReply<HeadBlock | null>(replies, (result) =>
        withSenders ? parseBlock(result, number) : parseHeader(result, number),
      );
      const isAbsent =
        "fault" in outcome && (outcome.fault.kind === "missing" || outcome.fault.kind === "behind");
      return isAbsent ? { value: null } : outcome;
    },
  };
}
