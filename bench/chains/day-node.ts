/** JSON-RPC over recorded blocks: headers, blocks with their senders, logs. Receipts are not recorded, and refused. */
import type { PortalItem } from "../../deploy/devnet/portal/block.ts";
import type { DayBlocks, DayHead } from "./day-blocks.ts";
import type { DayCall } from "./day-calls.ts";

export interface RpcCall {
  readonly id: number | string;
  readonly method: string;
  readonly params?: readonly unknown[];
}

export type RpcReply =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string } };

/** Answers that are kept: the same blocks are asked for again and again, of some 8 kB each. */
const KEPT_BLOCKS = 256;

/** Answers calls of one recorded chain; `call` answers eth_call. */
export function createDayNode(
  blocks: DayBlocks,
  { chainId, call }: { chainId: number; call: DayCall },
): (request: RpcCall) => RpcReply {
  const { last } = blocks;
  const kept = new Map<string, RawJson>();

  function blockOf(number: number, isFull: boolean): RawJson {
    const key = `${number} ${isFull}`;
    const text = kept.get(key) ?? new RawJson(JSON.stringify(toRpcBlock(blocks.headOf(number), isFull)));
    // The one used last comes last.
    kept.delete(key);
    kept.set(key, text);
    if (kept.size > KEPT_BLOCKS) kept.delete(kept.keys().next().value as string);
    return text;
  }

  /** Undefined for the hash of no known block. */
  function rangeOf({ blockHash, fromBlock, toBlock }: Readonly<Record<string, unknown>>) {
    if (blockHash === undefined)
      return { from: numberOf(fromBlock, last), to: Math.min(numberOf(toBlock, last), last) };
    const number = blocks.numberOf(blockHash);
    return number === undefined ? undefined : { from: number, to: number };
  }

  function logsOf(filter: Readonly<Record<string, unknown>>): RpcReply {
    const range = rangeOf(filter);
    if (range === undefined) return { error: { code: -32000, message: "unknown block" } };
    const isWanted = blocks.matcher(readFilter(filter));
    const parts: string[] = [];
    for (let number = range.from; number <= range.to; number++) {
      const place = `"blockNumber":"${hex(number)}","blockHash":"${blocks.hashOf(number)}","removed":false`;
      for (const log of blocks.logsOf(number, isWanted)) parts.push(logText(log, place));
    }
    return { result: new RawJson(`[${parts.join(",")}]`) };
  }

  return ({ method, params = [] }) => {
    if (method === "eth_chainId") return { result: hex(chainId) };
    if (method === "eth_blockNumber") return { result: hex(last) };
    if (method === "eth_getBlockByNumber")
      return { result: blockOf(numberOf(params[0], last), params[1] === true) };
    if (method === "eth_getLogs") return logsOf(params[0] as Readonly<Record<string, unknown>>);
    if (method === "eth_call") {
      const { to, data, input } = params[0] as { to: string; data?: string; input?: string };
      const result = call(to.toLowerCase(), data ?? input ?? "0x", last);
      return result === undefined ? { error: { code: 3, message: "execution reverted" } } : { result };
    }
    return { error: { code: -32601, message: `the method ${method} does not exist` } };
  };
}

/** JSON that is ready: parsing and writing it again would cost more than making it. */
export class RawJson {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

function numberOf(tag: unknown, last: number): number {
  return typeof tag === "string" && tag.startsWith("0x") ? Number(tag) : last;
}

function toRpcBlock(head: DayHead | undefined, isFull: boolean) {
  if (head === undefined) return null;
  const { header, transactions } = head;
  return {
    ...header,
    ...{ number: hex(header.number), timestamp: hex(header.timestamp), size: "0x186a0" },
    transactions: transactions.map(({ hash, from, transactionIndex, nonce }) =>
      isFull ? { hash, from, transactionIndex: hex(transactionIndex), nonce: hex(nonce) } : hash,
    ),
  };
}

function logText(
  { address, topics, data, transactionHash, transactionIndex, logIndex }: PortalItem,
  place: string,
) {
  return (
    `{"address":"${address}","topics":${JSON.stringify(topics)},"data":"${data}","transactionHash":"${transactionHash}",` +
    `"transactionIndex":"${hex(transactionIndex)}","logIndex":"${hex(logIndex)}",${place}}`
  );
}

/** Only first topics are looked at: the ingest names no others. */
function readFilter({ address, topics }: Readonly<Record<string, unknown>>) {
  const [first] = (topics ?? []) as readonly unknown[];
  return {
    addresses: address === undefined ? undefined : [address].flat(),
    topics: first === undefined || first === null ? undefined : [first].flat(),
  };
}

function hex(value: unknown): string {
  return `0x${Number(value).toString(16)}`;
}
