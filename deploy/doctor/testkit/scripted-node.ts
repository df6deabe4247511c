import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A JSON-RPC endpoint with the limits of a provider's plan. */
export interface NodeScript {
  readonly chainId?: number;
  readonly head?: number;
  /** Blocks of one eth_getLogs. */
  readonly maxBlocks?: number;
  /** Its words for a larger one; {max} is the limit. */
  readonly words?: string;
  /** Blocks of state before the head; Infinity = archive. */
  readonly stateBlocks?: number;
  /** Calls of a batch. */
  readonly maxBatch?: number;
  readonly hasReceipts?: boolean;
  /** Requests that get 429 before any is answered. */
  readonly refusals?: number;
  /** Every request fails with this HTTP status. */
  readonly status?: number;
}

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

export interface ScriptedNode {
  readonly url: string;
  /** HTTP requests so far. */
  requests(): number;
  close(): Promise<void>;
}

const BLOCK = {
  transactions: Array.from({ length: 50 }, (_, i) => ({ input: "0x".padEnd(400, String(i % 10)) })),
};

export async function startScriptedNode(script: NodeScript = {}): Promise<ScriptedNode> {
  const { refusals = 0, status, maxBatch = Number.POSITIVE_INFINITY } = script;
  let count = 0;
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (part) => {
      body += part;
    });
    request.on("end", () => {
      count += 1;
      if (status !== undefined || count <= refusals) {
        response.writeHead(status ?? 429, { "retry-after": "0" });
        return void response.end("no");
      }
      const calls = JSON.parse(body) as Call | readonly Call[];
      const error = { code: -32_600, message: `batch size limit of ${maxBatch} exceeded` };
      const replies =
        Array.isArray(calls) && calls.length > maxBatch
          ? { jsonrpc: "2.0", id: null, error }
          : Array.isArray(calls)
            ? calls.map((call: Call) => answer(call, script))
            : answer(calls as Call, script);
      response.end(JSON.stringify(replies));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret-key`,
    requests: () => count,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function answer({ id, method, params }: Call, script: NodeScript): unknown {
  const {
    chainId = 8453,
    head = 54_300_000,
    hasReceipts = true,
    stateBlocks = Number.POSITIVE_INFINITY,
  } = script;
  const { maxBlocks = Number.POSITIVE_INFINITY, words = "query exceeds max block range {max}" } = script;
  const succeed = (result: unknown) => ({ jsonrpc: "2.0", id, result });
  const fail = (code: number, message: string) => ({ jsonrpc: "2.0", id, error: { code, message } });
  switch (method) {
    case "eth_chainId":
      return succeed(`0x${chainId.toString(16)}`);
    case "eth_blockNumber":
      return succeed(`0x${head.toString(16)}`);
    case "eth_getBlockByNumber":
      return succeed({ ...BLOCK, number: params[0] });
    case "eth_getBlockReceipts":
      return hasReceipts ? succeed([]) : fail(-32_601, "the method eth_getBlockReceipts does not exist");
    case "eth_getBalance":
      return head - Number(params[1]) <= stateBlocks ? succeed("0x0") : fail(-32_000, "missing trie node");
    case "eth_getLogs": {
      const { fromBlock, toBlock } = params[0] as { fromBlock: string; toBlock: string };
      const blocks = Number(toBlock) - Number(fromBlock) + 1;
      return blocks <= maxBlocks ? succeed([]) : fail(-32_602, words.replaceAll("{max}", String(maxBlocks)));
    }
    default:
      return fail(-32_601, `the method ${method} does not exist`);
  }
}
