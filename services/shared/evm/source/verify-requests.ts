import { ReorgDetected } from "../../chain-errors.ts";
import type { RpcRequest } from "../../rpc-client/pending-request.ts";
import { computeLogsBloom } from "../bloom.ts";
import { toQuantity } from "../hex.ts";
import { type BlockHeader, type LogFilter, type LogRange, RangeTooLarge, type RawLog } from "../port.ts";
import { createLogFilter, parseLogs, untrustedFault } from "./parse.ts";
import { parseFirstReply, toRpcFilter } from "./requests.ts";

/** The logs of one block, or "gone" where its hash is unknown. */
export type BlockLogs = readonly RawLog[] | "gone";

/**
 * Requests the filter's logs of one block from its receipts, verified by the bloom; "unavailable" where no endpoint
 * has them. ReorgDetected where every endpoint has another block there.
 */
export function createReceiptLogsRequest(
  header: BlockHeader,
  filter: LogFilter,
): RpcRequest<readonly RawLog[] | "unavailable"> {
  const { number, hash, logsBloom } = header;
  const range = { fromBlock: number, toBlock: number };
  return {
    calls: [{ method: "eth_getBlockReceipts", params: [toQuantity(number)] }],
    read: (replies) =>
      parseFirstReply(replies, (receipts) => {
        if (!Array.isArray(receipts))
          return { fault: { kind: "state", message: `no receipts of block ${number}` } };
        if (receipts.some((receipt) => String(receipt?.blockHash).toLowerCase() !== hash)) {
          return { fault: { kind: "missing", message: `another block ${number}` } };
        }
        const outcome = parseLogs(
          receipts.flatMap((receipt) => receipt.logs ?? []),
          range,
          { topics: [] },
        );
        if ("fault" in outcome) return outcome;
        if (computeLogsBloom(outcome.value) !== logsBloom)
          return untrustedFault(`the receipts of block ${number} do not match its bloom`);
        return { value: outcome.value.filter(createLogFilter(filter)) };
      }),
    conclude: (refusals) =>
      refusals.every(({ kind }) => kind === "missing")
        ? new ReorgDetected(`Block ${number} is no longer ${hash}.`)
        : { value: "unavailable" },
  };
}

/** Requests the filter's logs of one block by its hash; `isLinked` as in LogRange. */
export function createBlockLogsRequest(
  header: Pick<BlockHeader, "number" | "hash"> & Pick<LogRange, "isLinked">,
  filter: LogFilter,
): RpcRequest<BlockLogs> {
  const range = { fromBlock: header.number, toBlock: header.number };
  return {
    calls: [{ method: "eth_getLogs", params: [{ blockHash: header.hash, ...toRpcFilter(filter) }] }],
    read(replies) {
      const reply = replies[0];
      if (reply?.ok === false && reply.fault.kind === "behind") {
        return { fault: { kind: "missing", message: reply.fault.message } };
      }
      const outcome = parseFirstReply(replies, (result) => parseLogs(result, range, filter));
      const isOther = "value" in outcome && outcome.value.some((log) => log.blockHash !== header.hash);
      return isOther ? untrustedFault(`logs of another block ${header.number}`) : outcome;
    },
    // Some nodes answer with an empty list where they do not know the block: that shows nothing.
    ...(header.isLinked === true && {
      showsChain: (logs: BlockLogs) => (logs.length > 0 ? true : undefined),
    }),
    conclude(refusals) {
      const tooLarge = refusals.find(({ kind }) => kind === "range");
      if (tooLarge !== undefined) return new RangeTooLarge(`block ${header.number}: ${tooLarge.message}`);
      return refusals.every(({ kind }) => kind === "missing") ? { value: "gone" } : undefined;
    },
  };
}
