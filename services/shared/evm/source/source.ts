import { createRpcClient, type RpcOptions } from "../../rpc-client/client.ts";
import type { IdentityCheck, SourceEvent, SourceLog } from "../../rpc-client/endpoint/endpoint.ts";
import type { HeadProbe } from "../head-watch/port.ts";
import { parseQuantity } from "../hex.ts";
import {
  type EthCall,
  type EvmSource,
  type Hex,
  IndexContradicted,
  type LogRange,
  RangeTooLarge,
  UpstreamError,
} from "../port.ts";
import { readBlockLogs } from "./block-logs.ts";
import { createBlockReader } from "./block-reader.ts";
import { classifyRpcError } from "./classify.ts";
import { createFinalBlockRequest, createFinalProof } from "./final-proof.ts";
import { createHeadTracker } from "./head.ts";
import { createBlockNumberRequest, createNextBlockRequest } from "./head-probe.ts";
import {
  createCallRequest,
  createCheckedCallRequest,
  createHeaderRequest,
  createLogsRequest,
  createPinnedCallRequest,
  createReceiptsRequest,
  PIN_FEATURE,
  type PinnedCall,
} from "./requests.ts";
import { createVerifyEmpty } from "./verify-empty.ts";

export type { SourceEvent, SourceLog } from "../../rpc-client/endpoint/endpoint.ts";

export interface SourceOptions extends RpcOptions {
  /** Full blocks (with transactions) per batch; default 20. */
  readonly blockBatchSize?: number;
  /** Reads senders from full blocks and logs by eth_getLogs only; default: receipts where they are faster. */
  readonly withoutReceipts?: boolean;
  /** Agreeing empty responses required of a single endpoint without receipts; default 3. */
  readonly agreeingAnswers?: number;
}

export interface EvmSourceConfig {
  readonly chainId: number;
  /**
   * http(s):// URLs in order of preference; the first is the primary. ws(s):// URLs only notify of new heads; they
   * are not derived from http URLs.
   */
  readonly urls: readonly string[];
  readonly log?: SourceLog;
  /** Metrics hook; must not throw. */
  readonly onEvent?: (event: SourceEvent) => void;
  readonly options?: SourceOptions;
}

/**
 * Live JSON-RPC endpoints of one chain behind the EvmSource port. Does no I/O before the first request. Throws
 * TypeError for a list without an http URL or with a malformed one (the URL itself is not quoted).
 */
export function createEvmSource(config: EvmSourceConfig): EvmSource & { readonly probe: HeadProbe } {
  const { chainId, options = {}, log = () => {}, onEvent = () => {} } = config;
  const proof = createFinalProof();
  const rpc = createRpcClient({
    name: `chain ${chainId}`,
    fields: { chainId },
    urls: config.urls,
    createError: (message) => createContradictionError() ?? new UpstreamError(message),
    classify: classifyRpcError,
    identityCheck: checkChainId(chainId),
    consistencyCheck: proof,
    optionalMethods: ["eth_getBlockReceipts", PIN_FEATURE],
    subscribe: { method: "eth_subscribe", params: ["newHeads"] },
    notification: "eth_subscription",
    log,
    onEvent(event) {
      if (event.kind === "aside") heads.reset();
      onEvent(event);
    },
    options,
  });
  const { pool, voters, clock, lifetime, batchSize } = rpc;
  const heads = createHeadTracker({ pool, clock, log, chainId });
  const verifyEmpty = createVerifyEmpty({
    pool,
    voters,
    clock,
    lifetime,
    agreeingAnswers: options.agreeingAnswers ?? 3,
    pauseMs: rpc.backoffMs,
  });

  function createContradictionError(): IndexContradicted | undefined {
    const found = rpc.contradictions();
    return found.length === 0 ? undefined : new IndexContradicted(chainId, found);
  }

  let isTagKnown = false;
  const maxBatch = Math.min(options.blockBatchSize ?? 20, batchSize);
  const { readBlocks, readWithLogs } = createBlockReader({
    pool,
    clock,
    maxBatch,
    withoutReceipts: options.withoutReceipts ?? false,
  });

  return {
    chainId,
    head: heads.head,
    requireFinal: proof.require,
    async recheck() {
      await rpc.recheck();
      const error = createContradictionError();
      if (error !== undefined) throw error;
    },
    async finalBlock(tip) {
      const usable = voters.filter((each) => voters.length === 1 || each.isUsable());
      const about = `final block up to ${tip.number}`;
      const request = createFinalBlockRequest(tip, { isTagKnown });
      const pending = usable.map((voter) => voter.pool.request([request], about));
      const responses = (await Promise.allSettled(pending)).flatMap((each) =>
        each.status === "fulfilled" ? each.value : [],
      );
      if (responses.includes("other")) return null;
      // All endpoints have the tip: the lowest of their final blocks is final for all.
      const final = responses.filter((response) => typeof response !== "string");
      isTagKnown = final.length > 0 && final.every(({ isTagged }) => isTagged);
      return final.map(({ block }) => block).sort((a, b) => a.number - b.number)[0] ?? null;
    },
    async headers(numbers) {
      const headers = await pool.request(
        numbers.map(createHeaderRequest),
        `eth_getBlockByNumber ${describeBlocks(numbers)}`,
      );
      for (const header of headers) if (header !== null) heads.record(header);
      return headers;
    },
    async blocks(numbers) {
      const blocks = await readBlocks(numbers, describeBlocks(numbers));
      for (const block of blocks) heads.record(block);
      return blocks;
    },
    async blocksWithLogs(numbers, filter) {
      const blocks = await readWithLogs(numbers, { filter, about: describeBlocks(numbers) });
      for (const block of blocks ?? []) heads.record(block);
      return blocks;
    },
    async receipts(block) {
      const [receipts] = await pool.request(
        [createReceiptsRequest(block)],
        `eth_getBlockReceipts ${block.number}`,
      );
      return receipts === "unavailable" ? undefined : receipts;
    },
    async logs(range: LogRange, filter) {
      const about = `eth_getLogs blocks ${range.fromBlock}-${range.toBlock}`;
      const blocks = range.toBlock - range.fromBlock + 1;
      if (range.blockHash !== undefined) {
        const { fromBlock: number, blockHash: hash, isLinked = false } = range;
        return readBlockLogs({ pool, clock, lifetime }, { number, hash, isLinked }, filter);
      }
      try {
        const [logs] = await pool.request([createLogsRequest(range, filter)], about);
        onEvent({ kind: "range", blocks, ok: true });
        return logs ?? [];
      } catch (error) {
        if (error instanceof RangeTooLarge) onEvent({ kind: "range", blocks, ok: false });
        throw error;
      }
    },
    verifyEmpty,
    async call(calls) {
      const about = `eth_call at ${describeBlocks(calls.map((call) => call.block))}`;
      const toRequest = (call: EthCall) =>
        isPinned(call) ? createPinnedCallRequest(call) : createCallRequest(call);
      const responses = await pool.request<Hex | null | "unpinnable">(calls.map(toRequest), about);
      const refused = calls.filter((_, i) => responses[i] === "unpinnable").filter(isPinned);
      const checked =
        refused.length === 0 ? [] : await pool.request(refused.map(createCheckedCallRequest), about);
      return responses.map((response) => (response === "unpinnable" ? (checked.shift() ?? null) : response));
    },
    async waitForHead(timeoutMs, signal) {
      await rpc.headSubscription.wait(timeoutMs, signal);
    },
    probe: {
      async blockNumber() {
        const [number] = await pool.request([createBlockNumberRequest()], "eth_blockNumber");
        return number as number;
      },
      async block(number, withSenders) {
        const request = createNextBlockRequest(number, withSenders);
        const [block] = await pool.request([request], `eth_getBlockByNumber ${number}`);
        if (block) heads.raise(block);
        return block ?? null;
      },
      notified: rpc.headSubscription.wait,
    },
    async close() {
      rpc.close();
    },
  };
}

function isPinned(call: EthCall): call is PinnedCall {
  return call.blockHash !== undefined;
}

function checkChainId(chainId: number): IdentityCheck {
  return {
    call: { method: "eth_chainId", params: [] },
    read(reply) {
      if (!reply.ok) return reply.fault;
      const id = parseQuantity(reply.result);
      if (id === undefined) return { kind: "transient", message: "eth_chainId gave no number" };
      if (id === chainId) return undefined;
      return { kind: "fatal", message: `wrong chain: chain id ${id} where ${chainId} is configured` };
    },
  };
}

function describeBlocks(numbers: readonly number[]): string {
  if (numbers.length <= 1) return `block ${numbers[0] ?? "none"}`;
  let [low, high] = [Number.POSITIVE_INFINITY, 0];
  for (const number of numbers) [low, high] = [Math.min(low, number), Math.max(high, number)];
  return `blocks ${low}-${high}`;
}
