import { parseHash, parseQuantity, toQuantity } from "../../../services/shared/evm/hex.ts";
import type { Hex } from "../../../services/shared/evm/port.ts";
import { classifyRpcError } from "../../../services/shared/evm/source/classify.ts";
import { untrustedFault } from "../../../services/shared/evm/source/parse.ts";
import { createRpcClient, type RpcOptions } from "../../../services/shared/rpc-client/client.ts";
import type { SourceLog } from "../../../services/shared/rpc-client/endpoint/endpoint.ts";
import type { RpcRequest } from "../../../services/shared/rpc-client/pending-request.ts";
import {
  type AuthorizationState,
  authorizationStateRequest,
  authorizationStatesRequest,
  contractSignatureRequest,
  readReply,
  STATES_PER_CALL,
  type WalletSignature,
} from "./chain-requests.ts";

export { STATES_PER_CALL };

/** A payment as the chain identifies it; hex in lower case. */
export interface Transfer {
  readonly asset: Hex;
  readonly from: Hex;
  readonly to: Hex;
  readonly value: bigint;
  readonly nonce: Hex;
}

/**
 * The status of an authorization on the chain:
 * - `paid`    it has moved the money to `to`
 * - `spent`   its nonce is used, but not for this payment: cancelled, or used for another transfer
 * - `unused`  it was not used up to a block of this time (Unix seconds)
 * - `unclear` it was used, but the node does not return the transaction
 */
export type TransferStatus =
  | { readonly kind: "paid"; readonly transaction: Hex }
  | { readonly kind: "spent" }
  | { readonly kind: "unused"; readonly time: number }
  | { readonly kind: "unclear" };

/** The chain on which payments are settled. Every method rejects if no node responds. */
export interface PaymentChain {
  /** Number of the newest block: a transaction sent later is in a later block. */
  headNumber(): Promise<number>;
  /** Wei of the chain's own coin. */
  balanceOf(address: Hex): Promise<bigint>;
  /** Searches from `fromBlock` on; `transaction` is what a facilitator reported. */
  readTransferStatus(
    transfer: Transfer,
    at: { fromBlock: number; transaction?: Hex | undefined },
  ): Promise<TransferStatus>;
  /**
   * Whether authorizations are used, in the given order: two calls for every hundred. For many authorizations of which few
   * are used.
   */
  readStates(transfers: readonly Transfer[]): Promise<AuthorizationState[]>;
  /** Whether there is a contract at the wallet's address that accepts the signature (ERC-1271), for little gas. */
  isAcceptedByContract(signature: WalletSignature): Promise<boolean>;
  close(): void;
}

/** Events of EIP-3009. */
const AUTHORIZATION_USED: Hex = "0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5";
const AUTHORIZATION_CANCELED: Hex = "0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81";
const TRANSFER: Hex = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
/** Blocks per eth_getLogs, fewer if a provider refuses; an authorization is valid for some thirty. */
const LOG_RANGE_BLOCKS = 1_000;
const MIN_LOG_RANGE_BLOCKS = 5;
/** Beyond this an authorization of any sensible length has expired. */
const MAX_BLOCKS = 50_000;
const OPTIONS: RpcOptions = { timeoutMs: 3_000, totalMs: 6_000, behindTotalMs: 2_000 };

interface PaymentChainConfig {
  readonly chainId: number;
  /** http(s) URLs, the preferred one first. */
  readonly urls: readonly string[];
  readonly log?: SourceLog;
  readonly options?: RpcOptions;
}

export function createPaymentChain({ chainId, urls, log, options }: PaymentChainConfig): PaymentChain {
  const { pool, close } = createRpcClient({
    name: `chain ${chainId}`,
    fields: { chainId },
    // The head is not followed here: a websocket would be of no use.
    urls: urls.filter((url) => url.startsWith("http")),
    createError: (message) => new Error(message),
    classify: classifyRpcError,
    identityCheck: {
      call: { method: "eth_chainId", params: [] },
      read: (reply) => {
        if (!reply.ok) return reply.fault;
        if (parseQuantity(reply.result) === chainId) return undefined;
        return { kind: "fatal", message: `wrong chain: ${chainId} is wanted` };
      },
    },
    optionalMethods: [],
    subscribe: { method: "eth_subscribe", params: ["newHeads"] },
    notification: "eth_subscription",
    log: log ?? (() => {}),
    onEvent: () => {},
    options: { ...OPTIONS, ...options },
  });
  const ask = async <T>(question: RpcRequest<T>, about: string): Promise<T> =>
    (await pool.request([question], about))[0] as T;
  const headNumber = () => ask(headNumberRequest(), "eth_blockNumber");

  /** What a transaction did with the authorization; undefined if it did not use it, or is unknown. */
  const readTransaction = async (transfer: Transfer, hash: Hex) => {
    const logs = await ask(receiptLogsRequest(hash), "eth_getTransactionReceipt");
    return logs && classifyTransferLogs(logs, transfer);
  };

  /** The transaction that used the authorization; undefined if the node does not return it. */
  const findUsingTransaction = async (transfer: Transfer, fromBlock: number): Promise<Hex | undefined> => {
    const last = Math.min(await headNumber(), fromBlock + MAX_BLOCKS - 1);
    let size = LOG_RANGE_BLOCKS;
    for (let from = fromBlock; from <= last; ) {
      const to = Math.min(last, from + size - 1);
      const found = await ask(authorizationUseRequest(transfer, { from, to }), "eth_getLogs");
      if (found === "none") from = to + 1;
      else if (found !== "too many blocks") return found;
      else if (size <= MIN_LOG_RANGE_BLOCKS) return undefined;
      else size = Math.max(MIN_LOG_RANGE_BLOCKS, Math.floor(size / 10));
    }
    return undefined;
  };

  const readUsedStatus = async (transfer: Transfer, fromBlock: number): Promise<TransferStatus> => {
    const transaction = await findUsingTransaction(transfer, fromBlock);
    const outcome = transaction && (await readTransaction(transfer, transaction));
    if (transaction === undefined || outcome === undefined) return { kind: "unclear" };
    return outcome === "paid" ? { kind: "paid", transaction } : { kind: "spent" };
  };

  const readBatch = async (transfers: readonly Transfer[]): Promise<AuthorizationState[]> => {
    const states = await ask(authorizationStatesRequest(transfers), "authorizationState");
    return states ?? pool.request(transfers.map(authorizationStateRequest), "authorizationState");
  };

  return {
    headNumber,
    async readStates(transfers) {
      const batches: Promise<AuthorizationState[]>[] = [];
      for (let at = 0; at < transfers.length; at += STATES_PER_CALL)
        batches.push(readBatch(transfers.slice(at, at + STATES_PER_CALL)));
      return (await Promise.all(batches)).flat();
    },
    isAcceptedByContract: (signature) => ask(contractSignatureRequest(signature), "isValidSignature"),
    balanceOf: (address) => ask(balanceRequest(address), "eth_getBalance"),
    async readTransferStatus(transfer, { fromBlock, transaction }) {
      if (transaction !== undefined && (await readTransaction(transfer, transaction)) === "paid") {
        return { kind: "paid", transaction };
      }
      const state = await ask(authorizationStateRequest(transfer), "authorizationState");
      return state.isUsed ? readUsedStatus(transfer, fromBlock) : { kind: "unused", time: state.time };
    },
    close,
  };
}

function headNumberRequest(): RpcRequest<number> {
  return {
    calls: [{ method: "eth_blockNumber", params: [] }],
    read: ([reply]) =>
      readReply(reply, (result) => {
        const number = parseQuantity(result);
        return number === undefined ? untrustedFault("eth_blockNumber gave no number") : { value: number };
      }),
  };
}

function balanceRequest(address: Hex): RpcRequest<bigint> {
  return {
    calls: [{ method: "eth_getBalance", params: [address, "latest"] }],
    read: ([reply]) =>
      readReply(reply, (result) =>
        // Wei exceed the range of parseQuantity.
        typeof result === "string" && /^0x[0-9a-f]{1,64}$/i.test(result)
          ? { value: BigInt(result) }
          : untrustedFault("eth_getBalance gave no number"),
      ),
  };
}

/** Hash of the transaction that used the authorization. */
function authorizationUseRequest(
  { asset, from, nonce }: Transfer,
  range: { readonly from: number; readonly to: number },
): RpcRequest<Hex | "none" | "too many blocks"> {
  const filter = {
    address: asset,
    topics: [[AUTHORIZATION_USED, AUTHORIZATION_CANCELED], toTopic(from), nonce],
    fromBlock: toQuantity(range.from),
    toBlock: toQuantity(range.to),
  };
  return {
    calls: [{ method: "eth_getLogs", params: [filter] }],
    read: ([reply]) =>
      readReply(reply, (result) => {
        if (!Array.isArray(result)) return untrustedFault("eth_getLogs gave no list");
        if (result.length === 0) return { value: "none" };
        const hash = parseHash(result[0]?.transactionHash);
        return hash === undefined
          ? untrustedFault("eth_getLogs gave a log without transaction")
          : { value: hash };
      }),
    conclude: (refusals) =>
      refusals.some(({ kind }) => kind === "range") ? { value: "too many blocks" } : undefined,
  };
}

interface ReceiptLog {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
}

/** Logs in order; undefined while the node does not know the transaction. */
function receiptLogsRequest(hash: Hex): RpcRequest<readonly ReceiptLog[] | undefined> {
  return {
    calls: [{ method: "eth_getTransactionReceipt", params: [hash] }],
    read: ([reply]) =>
      readReply(reply, (result) => {
        if (result === null) return { value: undefined };
        const { logs } = result as { logs?: unknown };
        return Array.isArray(logs) && logs.every(isLog)
          ? { value: logs }
          : untrustedFault("eth_getTransactionReceipt gave no logs");
      }),
  };
}

function isLog(log: unknown): log is ReceiptLog {
  if (typeof log !== "object" || log === null) return false;
  const { address, topics, data } = log as Partial<Record<keyof ReceiptLog, unknown>>;
  return typeof address === "string" && typeof data === "string" && Array.isArray(topics);
}

/**
 * The token emits AuthorizationUsed right before the Transfer of a payment. Any other use of the nonce (the payer's own
 * transfer to another address, a cancellation) has no such pair of logs.
 */
function classifyTransferLogs(
  logs: readonly { address: string; topics: readonly string[]; data: string }[],
  transfer: Transfer,
): "paid" | "spent" | undefined {
  const { asset, from, to, value, nonce } = transfer;
  const hasTopics = (log: ReceiptLog | undefined, topics: readonly string[]) =>
    log?.address.toLowerCase() === asset &&
    topics.every((topic, at) => log.topics[at]?.toLowerCase() === topic);
  const used = logs.findIndex((log) => hasTopics(log, [AUTHORIZATION_USED, toTopic(from), nonce]));
  if (used === -1) {
    const isCanceled = logs.some((log) => hasTopics(log, [AUTHORIZATION_CANCELED, toTopic(from), nonce]));
    return isCanceled ? "spent" : undefined;
  }
  const next = logs[used + 1];
  const isPayment =
    hasTopics(next, [TRANSFER, toTopic(from), toTopic(to)]) && parseHash(next?.data) !== undefined;
  return isPayment && BigInt(next?.data ?? 0) === value ? "paid" : "spent";
}

function toTopic(address: Hex): Hex {
  return `0x${address.slice(2).padStart(64, "0")}`;
}
