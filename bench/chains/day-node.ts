/** JSON-RPC over recorded blocks: headers, blocks with their senders, logs. Receipts are not recorded, and refused. */
import type { PortalBlock, PortalItem } from "../../deploy/devnet/portal/block.ts";
import type { DayBlocks } from "./day-blocks.ts";
import type { DayCall } from "./day-calls.ts";

export interface RpcCall {
  readonly id: number | string;
  readonly method: string;
  readonly params?: readonly unknown[];
}

export type RpcReply =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string } };

/** Answers calls of one recorded chain; `call` answers eth_call. */
export function createDayNode(
  blocks: DayBlocks,
  { chainId, call }: { chainId: number; call: DayCall },
): (request: RpcCall) => Promise<RpcReply> {
  const { last } = blocks;

  /** Undefined for the hash of no known block. */
  function rangeOf({ blockHash, fromBlock, toBlock }: Readonly<Record<string, unknown>>) {
    if (blockHash === undefined)
      return { from: numberOf(fromBlock, last), to: Math.min(numberOf(toBlock, last), last.header.number) };
    const number = blocks.numberOf(blockHash);
    return number === undefined ? undefined : { from: number, to: number };
  }

  async function logsOf(filter: Readonly<Record<string, unknown>>): Promise<RpcReply> {
    const range = rangeOf(filter);
    if (range === undefined) return { error: { code: -32000, message: "unknown block" } };
    const isWanted = matcherOf(filter);
    const parts: string[] = [];
    for (let number = range.from; number <= range.to; number++) {
      const block = await blocks.at(number);
      if (block === undefined) continue;
      const place = `"blockNumber":"${hex(number)}","blockHash":"${block.header.hash}","removed":false`;
      for (const log of block.logs) if (isWanted(log)) parts.push(logText(log, place));
    }
    return { result: new RawJson(`[${parts.join(",")}]`) };
  }

  return async ({ method, params = [] }) => {
    if (method === "eth_chainId") return { result: hex(chainId) };
    if (method === "eth_blockNumber") return { result: hex(last.header.number) };
    if (method === "eth_getBlockByNumber") {
      const block = await blocks.at(numberOf(params[0], last));
      return { result: block === undefined ? null : toRpcBlock(block, params[1] === true) };
    }
    if (method === "eth_getLogs") return logsOf(params[0] as Readonly<Record<string, unknown>>);
    if (method === "eth_call") {
      const { to, data, input } = params[0] as { to: string; data?: string; input?: string };
      const result = call(to.toLowerCase(), data ?? input ?? "0x", last.header.number);
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

function numberOf(tag: unknown, last: PortalBlock): number {
  return typeof tag === "string" && tag.startsWith("0x") ? Number(tag) : last.header.number;
}

function toRpcBlock({ header, transactions }: PortalBlock, isFull: boolean) {
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

function matcherOf({ address, topics }: Readonly<Record<string, unknown>>): (log: PortalItem) => boolean {
  const addresses = address === undefined ? undefined : new Set<unknown>([address].flat());
  const [first] = (topics ?? []) as readonly unknown[];
  const topic0 = first === undefined || first === null ? undefined : new Set<unknown>([first].flat());
  return (log) =>
    (addresses === undefined || addresses.has(log.address)) &&
    (topic0 === undefined || topic0.has((log.topics as readonly unknown[])[0]));
}

function hex(value: unknown): string {
  return `0x${Number(value).toString(16)}`;
}
