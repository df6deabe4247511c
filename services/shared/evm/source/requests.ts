import type { Fault } from "../../rpc-client/endpoint/fault.ts";
import type { RpcResponse } from "../../rpc-client/endpoint/transport.ts";
import type { Outcome, RpcRequest } from "../../rpc-client/pending-request.ts";
import { parseBytes, parseQuantity, toQuantity } from "../hex.ts";
import {
  type BlockHeader,
  BlockUnavailable,
  type BlockWithLogs,
  type BlockWithSenders,
  CallTooHeavy,
  type EthCall,
  type Hex,
  type LogFilter,
  type LogRange,
  RangeTooLarge,
  type RawLog,
} from "../port.ts";
import {
  parseBlock,
  parseBlockReceipts,
  parseHeader,
  parseLogs,
  parseReceiptLogs,
  untrustedFault,
} from "./parse.ts";

/** Requests the header of one block; null where no endpoint has it. */
export function createHeaderRequest(number: number): RpcRequest<BlockHeader | null> {
  return {
    calls: [{ method: "eth_getBlockByNumber", params: [toQuantity(number), false] }],
    read: (replies) => parseFirstReply(replies, (result) => parseHeader(result, number)),
    conclude: (refusals) => (refusals.every(({ kind }) => kind === "missing") ? { value: null } : undefined),
  };
}

/** Requests one block with its senders; waits for a block that no endpoint has yet. */
export function createBlockRequest(number: number): RpcRequest<BlockWithSenders> {
  return {
    calls: [{ method: "eth_getBlockByNumber", params: [toQuantity(number), true] }],
    read(replies) {
      const outcome = parseFirstReply(replies, (result) => parseBlock(result, number));
      return "fault" in outcome && outcome.fault.kind === "missing"
        ? { fault: { ...outcome.fault, kind: "behind" } }
        : outcome;
    },
  };
}

/** The same from the receipts; null where no endpoint has them. */
export function createBlockByReceiptsRequest(number: number): RpcRequest<BlockWithSenders | null> {
  const block = toQuantity(number);
  return {
    calls: [
      { method: "eth_getBlockByNumber", params: [block, false] },
      { method: "eth_getBlockReceipts", params: [block] },
    ],
    read([header, receipts]) {
      if (header === undefined || receipts === undefined) return untrustedFault("a reply is missing");
      if (!header.ok) return { fault: header.fault };
      if (header.result === null) return { fault: { kind: "behind", message: `no block ${number}` } };
      return receipts.ok
        ? parseBlockReceipts(header.result, receipts.result, number)
        : { fault: receipts.fault };
    },
    conclude: () => ({ value: null }),
  };
}

/** Requests the receipts of a block as they are; "unavailable" where no endpoint has them. */
export function createReceiptsRequest({
  number,
  hash,
}: Pick<BlockHeader, "number" | "hash">): RpcRequest<readonly unknown[] | "unavailable"> {
  return {
    calls: [{ method: "eth_getBlockReceipts", params: [toQuantity(number)] }],
    read: (replies) =>
      parseFirstReply(replies, (receipts) =>
        Array.isArray(receipts) &&
        receipts.every((receipt) => String(receipt?.blockHash).toLowerCase() === hash)
          ? { value: receipts }
          : { fault: { kind: "missing", message: `no receipts of block ${number}, ${hash}` } },
      ),
    conclude: () => ({ value: "unavailable" }),
  };
}

/** The same with the filter's logs; null where no endpoint has receipts. */
export function createBlockLogsByReceiptsRequest(
  number: number,
  filter: LogFilter,
): RpcRequest<BlockWithLogs | null> {
  const { calls, read, conclude } = createBlockByReceiptsRequest(number);
  return {
    calls,
    read(replies) {
      const block = read(replies);
      const receipts = replies[1];
      if ("fault" in block || block.value === null || receipts?.ok !== true) return block as Outcome<null>;
      const logs = parseReceiptLogs(receipts.result, { block: block.value, filter });
      return "fault" in logs ? logs : { value: { ...block.value, logs: logs.value } };
    },
    ...(conclude && { conclude: () => ({ value: null }) }),
  };
}

/** Logs of this many blocks and more need a check of the endpoint against the final block. */
const UNBOUND_FROM_BLOCKS = 64;

/**
 * Requests the logs of a range together with the head of the same node: eth_getLogs beyond a node's own head returns
 * a short list without an error. The head comes first, so that it cannot pass the range after the logs were read.
 */
export function createLogsRequest(range: LogRange, filter: LogFilter): RpcRequest<RawLog[]> {
  const { fromBlock, toBlock } = range;
  return {
    calls: [
      { method: "eth_blockNumber", params: [] },
      {
        method: "eth_getLogs",
        params: [{ fromBlock: toQuantity(fromBlock), toBlock: toQuantity(toBlock), ...toRpcFilter(filter) }],
        // The blocks of short ranges are all read and linked.
        needsConsistencyCheck: toBlock - fromBlock >= UNBOUND_FROM_BLOCKS,
      },
    ],
    read([headReply, logsReply]) {
      if (logsReply === undefined || headReply === undefined) return untrustedFault("a reply is missing");
      if (!logsReply.ok) return { fault: logsReply.fault };
      if (!headReply.ok) return { fault: headReply.fault };
      const head = parseQuantity(headReply.result);
      if (head === undefined) return untrustedFault("eth_blockNumber gave no number");
      if (head < toBlock) return { fault: { kind: "behind", message: `the node's head is ${head}` } };
      return parseLogs(logsReply.result, range, filter);
    },
    // A range that times out twice or fails four times is too large for these endpoints, whatever their errors say.
    maxFailures: toBlock > fromBlock ? 4 : Number.POSITIVE_INFINITY,
    conclude(refusals) {
      const refused = refusals.filter(({ kind }) => kind === "range");
      if (refused.length === 0 && refusals.length > 0) return undefined;
      const reason = refused[refused.length - 1]?.message ?? "the endpoints fail at this size";
      const suggested = pickSuggestion(refused, range);
      const limits = refused.flatMap(({ limit }) => (limit === undefined ? [] : [limit]));
      const maxBlocks =
        limits.length === 0 || limits.length < refused.length ? undefined : Math.max(...limits);
      return new RangeTooLarge(`blocks ${fromBlock}-${toBlock}: ${reason}`, suggested, { maxBlocks });
    },
  };
}

/** The largest suggested range that is smaller than the refused one: some nodes suggest the very range they refuse. */
function pickSuggestion(refused: readonly Fault[], { fromBlock, toBlock }: LogRange): LogRange | undefined {
  let best: LogRange | undefined;
  for (const { suggested, limit } of refused) {
    const end =
      suggested !== undefined && suggested.fromBlock <= fromBlock
        ? suggested.toBlock
        : fromBlock + (limit ?? 0) - 1;
    if (end < fromBlock || end >= toBlock) continue;
    if (best === undefined || end > best.toBlock) best = { fromBlock, toBlock: end };
  }
  return best;
}

/** Requests return data; null for a revert, and where no endpoint has the state of that block. */
export function createCallRequest(call: EthCall): RpcRequest<Hex | null> {
  const { to, data, block, confirmRevert, needsState = false } = call;
  const isMissing = (refusals: readonly Fault[]) =>
    !needsState && refusals.every(({ kind }) => kind === "state");
  return {
    calls: [{ method: "eth_call", params: [{ to, data }, toQuantity(block)], needsConsistencyCheck: true }],
    read: ([reply]) => parseReturnData(reply, confirmRevert),
    conclude: (refusals) => (isReverted(refusals) || isMissing(refusals) ? { value: null } : undefined),
  };
}

/** Whether an endpoint reported a revert and no other one returned data. */
function isReverted(refusals: readonly Fault[]): boolean {
  return refusals.some(({ kind }) => kind === "reverted");
}

function parseReturnData(reply: RpcResponse | undefined, confirmRevert = false): Outcome<Hex | null> {
  if (!confirmRevert && reply?.ok === false && reply.fault.kind === "reverted") return { value: null };
  return parseFirstReply([reply], (result) => {
    const bytes = parseBytes(result);
    return bytes === undefined ? untrustedFault("eth_call gave no bytes") : { value: bytes };
  });
}

/** A call that names its block by hash. */
export type PinnedCall = EthCall & Required<Pick<EthCall, "blockHash">>;

export const PIN_FEATURE = "eth_call by block hash";
/** Failures without a reason after which a call counts as too heavy. */
const CALL_PATIENCE = 4;

/** Requests return data; null only for a revert, "unpinnable" where no endpoint accepts a block's hash. */
export function createPinnedCallRequest(call: PinnedCall): RpcRequest<Hex | null | "unpinnable"> {
  const { to, data, blockHash, confirmRevert } = call;
  return {
    calls: [{ method: "eth_call", params: [{ to, data }, { blockHash }], feature: PIN_FEATURE }],
    read: ([reply]) => toMissing(parseReturnData(reply, confirmRevert)),
    // A state names no block: only that the node lacks it says something.
    showsChain: () => undefined,
    maxFailures: CALL_PATIENCE,
    conclude(refusals) {
      if (isReverted(refusals)) return { value: null };
      const isRefused = refusals.some(({ kind }) => kind === "method");
      return isRefused ? { value: "unpinnable" } : concludeCall(call, refusals);
    },
  };
}

/** The same by number: one node's result between two reads of the block's header. */
export function createCheckedCallRequest(call: PinnedCall): RpcRequest<Hex | null> {
  const { to, data, block, blockHash } = call;
  const look = { method: "eth_getBlockByNumber", params: [toQuantity(block), false] };
  return {
    calls: [look, { method: "eth_call", params: [{ to, data }, toQuantity(block)] }, look],
    read([before, reply, after]) {
      for (const header of [before, after]) {
        const seen = parseFirstReply([header], (result) => parseHeader(result, block));
        if ("fault" in seen) return seen;
        if (seen.value.hash !== blockHash)
          return { fault: { kind: "missing", message: `block ${block} is ${seen.value.hash} there` } };
      }
      return toMissing(parseReturnData(reply));
    },
    maxFailures: CALL_PATIENCE,
    conclude: (refusals) => concludeCall(call, refusals),
  };
}

/** Does not wait for a node that lacks the block: the caller knows whether the chain still has it. */
function toMissing(outcome: Outcome<Hex | null>): Outcome<Hex | null> {
  return "fault" in outcome && outcome.fault.kind === "behind"
    ? { fault: { ...outcome.fault, kind: "missing" } }
    : outcome;
}

function concludeCall({ to, block, blockHash }: PinnedCall, refusals: readonly Fault[]): Error {
  const why = refusals.at(-1)?.message;
  return why === undefined
    ? new CallTooHeavy(`eth_call to ${to} at block ${block} fails repeatedly`)
    : new BlockUnavailable(`block ${block} (${blockHash}) cannot be read: ${why}`);
}

export function parseFirstReply<T>(
  replies: readonly (RpcResponse | undefined)[],
  read: (result: unknown) => Outcome<T>,
): Outcome<T> {
  const reply = replies[0];
  if (reply === undefined) return untrustedFault("a reply is missing");
  return reply.ok ? read(reply.result) : { fault: reply.fault };
}

/** The filter as parameters of eth_getLogs. */
export function toRpcFilter(filter: LogFilter): Record<string, unknown> {
  const params: Record<string, unknown> = {};
  if (filter.topics.length > 0) params.topics = [filter.topics];
  if (filter.addresses !== undefined) params.address = filter.addresses;
  return params;
}
