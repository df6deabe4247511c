import type { PortalLine } from "../../portal/stream.ts";
import { createRpcClient } from "../../rpc-client/client.ts";
import type { RpcRequest } from "../../rpc-client/pending-request.ts";
import { parseQuantity, toQuantity } from "../hex.ts";
import { UpstreamError } from "../port.ts";
import { HASHED_FIELDS } from "../proof/header-hash.ts";
import { computeReceiptsRoot } from "../proof/receipts-root.ts";
import { classifyRpcError } from "../source/classify.ts";
import { createLineFilter, type LogItem } from "./select.ts";

type Raw = Readonly<Record<string, unknown>>;

/** Blocks read at once. */
const AT_ONCE = 20;
const NUMBERS = new Set(["number", "timestamp"]);

/**
 * The blocks of a range as lines, read from the endpoints of a chain: header, the logs that one of the items asks for, and
 * their transactions. The receipts of every block are compared with the root in its header. Throws UpstreamError.
 */
export async function* readRpcLines(options: {
  readonly chainId: number;
  readonly urls: readonly string[];
  readonly fromBlock: number;
  /** Inclusive. */
  readonly toBlock: number;
  readonly items: readonly LogItem[];
}): AsyncGenerator<PortalLine> {
  const { chainId, urls, fromBlock, toBlock } = options;
  const select = createLineFilter(options.items);
  const rpc = createRpcClient({
    name: `chain ${chainId}`,
    fields: { chainId },
    urls,
    createError: (message) => new UpstreamError(message),
    classify: classifyRpcError,
    identityCheck: {
      call: { method: "eth_chainId", params: [] },
      read(reply) {
        if (!reply.ok) return reply.fault;
        const id = parseQuantity(reply.result);
        return id === chainId
          ? undefined
          : { kind: "fatal", message: `its chain id is ${id}, not ${chainId}` };
      },
    },
    optionalMethods: ["eth_getBlockReceipts"],
    subscribe: { method: "eth_subscribe", params: ["newHeads"] },
    notification: "eth_subscription",
    log: () => {},
    onEvent: () => {},
    options: {},
  });
  try {
    for (let from = fromBlock; from <= toBlock; from += AT_ONCE) {
      const count = Math.min(AT_ONCE, toBlock - from + 1);
      const requests = Array.from({ length: count }, (_, i) => createLineRequest(from + i));
      const about = `blocks ${from} to ${from + count - 1} with receipts`;
      for (const line of await rpc.pool.request(requests, about)) yield select(line);
    }
  } finally {
    rpc.close();
  }
}

function createLineRequest(number: number): RpcRequest<PortalLine> {
  const block = toQuantity(number);
  return {
    calls: [
      { method: "eth_getBlockByNumber", params: [block, true] },
      { method: "eth_getBlockReceipts", params: [block] },
    ],
    read([whole, receipts]) {
      if (whole === undefined || !whole.ok) return { fault: whole?.fault ?? untrusted(number, "no reply") };
      if (receipts === undefined || !receipts.ok)
        return { fault: receipts?.fault ?? untrusted(number, "no reply") };
      const line = toLine(whole.result, receipts.result);
      return typeof line === "string" ? { fault: untrusted(number, line) } : { value: line };
    },
    // Without it one endpoint that never has receipts would be asked for two minutes.
    conclude: (refusals) =>
      refusals.every(({ kind }) => kind === "method")
        ? new UpstreamError("No endpoint offers eth_getBlockReceipts, by which a recording is proven.")
        : undefined,
  };
}

function untrusted(number: number, message: string) {
  return { kind: "untrusted" as const, message: `block ${number}: ${message}` };
}

/** A block and its receipts, as JSON-RPC has them, as a line; a text says why they are none. */
export function toLine(block: unknown, receipts: unknown): PortalLine | string {
  if (typeof block !== "object" || block === null || !Array.isArray(receipts)) return "it is not there";
  const raw = block as Raw;
  const { transactions } = raw;
  if (!Array.isArray(transactions)) return "it has no transactions";
  if (computeReceiptsRoot(receipts) !== lower(raw.receiptsRoot))
    return "its receipts are not those of its header";
  const fields = ["hash", ...HASHED_FIELDS].filter((name) => raw[name] !== undefined && raw[name] !== null);
  const own = fields.map((name) => [name, NUMBERS.has(name) ? Number(raw[name]) : lower(raw[name])]);
  // The number comes first: readers find a block without parsing its line.
  const header = { number: Number(raw.number), ...Object.fromEntries(own) } as PortalLine["header"];
  return {
    header,
    logs: receipts.flatMap((receipt) => (receipt.logs as readonly Raw[]).map(toLog)),
    transactions: transactions.map((each: Raw, i) => ({
      transactionIndex: i,
      hash: lower(each.hash),
      from: lower(each.from),
    })),
  };
}

function toLog({ logIndex, transactionIndex, address, topics, data }: Raw) {
  return {
    logIndex: Number(logIndex),
    transactionIndex: Number(transactionIndex),
    address: lower(address),
    data: lower(data),
    topics: (topics as readonly unknown[]).map(lower),
  };
}

function lower(value: unknown): string {
  return String(value).toLowerCase();
}
