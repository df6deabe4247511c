import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import {
  decodeFunctionData,
  encodeAbiParameters,
  encodeFunctionResult,
  multicall3Abi,
  parseAbiParameters,
  toFunctionSelector,
} from "viem";
import { MULTICALL3 } from "../../services/shared/evm/multicall/multicall.ts";
import type { Hex } from "../../services/shared/evm/port.ts";
import { type ChainBlock, type HeadChain, marketId, marketOf, quantity } from "./head-chain.ts";

/** What a provider's plan allows. */
export interface NodePlan {
  /** JSON-RPC calls a second, counted singly in batches; more get 429. */
  readonly callsPerSecond?: number;
  /** Blocks a range of eth_getLogs. */
  readonly blocksARange?: number;
  readonly withoutReceipts?: boolean;
  /** Blocks below the head whose state is kept. */
  readonly keptStates?: number;
}

/** As free plans are: 25 calls a second, 10 blocks a range, no receipts, no archive. */
export const FREE_PLAN: NodePlan = {
  callsPerSecond: 25,
  blocksARange: 10,
  withoutReceipts: true,
  keptStates: 128,
};

/** What one client asked. */
export interface Counted {
  /** By method. */
  readonly calls: Map<string, number>;
  requests: number;
  refused: number;
  bytesOut: number;
  bytesIn: number;
  /** The responses, as gzip would have sent them. */
  bytesInGzip: number;
}

export interface HeadNode {
  /** The endpoint of a client; each is counted by itself. */
  urlOf(client: string): string;
  counted(client: string): Counted;
  /** Counts anew. */
  reset(): void;
  stop(): Promise<void>;
}

/** JSON-RPC calls of a client, of all methods. */
export function callsOfNode({ calls }: Counted): number {
  return [...calls.values()].reduce((sum, count) => sum + count, 0);
}

interface Call {
  readonly id: number | string;
  readonly method: string;
  readonly params?: readonly unknown[];
}

type Answer = { readonly result: unknown } | { readonly error: { code: number; message: string } };

const refuse = (code: number, message: string): Answer => ({ error: { code, message } });

/** A node of a made up chain that answers over HTTP, counts, and keeps to a plan. `head` is its last block. */
export async function startHeadNode(
  chain: HeadChain,
  { head, plan = {} }: { head: () => number; plan?: NodePlan },
): Promise<HeadNode> {
  const clients = new Map<string, Counted>();
  const recent: number[] = [];
  const countedOf = (client: string): Counted => {
    const known = clients.get(client) ?? {
      calls: new Map<string, number>(),
      ...{ requests: 0, refused: 0, bytesOut: 0, bytesIn: 0, bytesInGzip: 0 },
    };
    clients.set(client, known);
    return known;
  };

  function isAllowed(calls: number): boolean {
    const nowMs = performance.now();
    while (recent.length > 0 && nowMs - (recent[0] as number) > 1_000) recent.shift();
    if (recent.length + calls > (plan.callsPerSecond ?? Number.POSITIVE_INFINITY)) return false;
    for (let i = 0; i < calls; i++) recent.push(nowMs);
    return true;
  }

  const server = createServer(async (request, response) => {
    const counted = countedOf((request.url ?? "/").slice(1));
    const body = await text(request);
    const parsed = JSON.parse(body) as Call | readonly Call[];
    const calls = Array.isArray(parsed) ? (parsed as readonly Call[]) : [parsed as Call];
    counted.requests += 1;
    counted.bytesOut += body.length;
    if (!isAllowed(calls.length)) {
      counted.refused += calls.length;
      response.writeHead(429, { "Retry-After": "1" }).end();
      return;
    }
    const answers = calls.map((call) => {
      counted.calls.set(call.method, (counted.calls.get(call.method) ?? 0) + 1);
      return { jsonrpc: "2.0", id: call.id, ...answerTo(call, { chain, plan, head: head() }) };
    });
    const sent = JSON.stringify(Array.isArray(parsed) ? answers : answers[0]);
    counted.bytesIn += sent.length;
    counted.bytesInGzip += gzipSync(sent, { level: 1 }).length;
    response.writeHead(200, { "Content-Type": "application/json" }).end(sent);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    urlOf: (client) => `http://127.0.0.1:${port}/${client}`,
    counted: countedOf,
    reset: () => clients.clear(),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface NodeState {
  readonly chain: HeadChain;
  readonly plan: NodePlan;
  readonly head: number;
}

function answerTo({ method, params = [] }: Call, node: NodeState): Answer {
  const { chain, head, plan } = node;
  const numberOf = (tag: unknown) => {
    if (tag === "latest" || tag === "pending") return head;
    return tag === "finalized" ? Math.max(0, head - 8) : Number(tag);
  };
  if (method === "eth_chainId") return { result: quantity(8_453) };
  if (method === "eth_blockNumber") return { result: quantity(head) };
  if (method === "eth_getBlockByNumber") {
    const number = numberOf(params[0]);
    if (number > head) return { result: null };
    const { header, transactions } = chain.block(number);
    const listed = params[1] === true ? transactions : transactions.map(({ hash }) => hash);
    return { result: { ...header, transactions: listed } };
  }
  if (method === "eth_getLogs") return logsOf(params[0] as Filter, node);
  if (method === "eth_getBlockReceipts" && plan.withoutReceipts !== true) {
    const number = numberOf(params[0]);
    return { result: number > head ? null : receiptsOf(chain.block(number)) };
  }
  if (method === "eth_call") {
    const at = params[1] as { blockHash?: Hex } | string;
    const number = typeof at === "string" ? numberOf(at) : findBlock(node, at.blockHash);
    return call(params[0] as { to: Hex; data: Hex }, number, node);
  }
  return refuse(-32_601, `the method ${method} does not exist/is not available`);
}

function call({ to, data }: { to: Hex; data: Hex }, number: number | undefined, node: NodeState): Answer {
  const { chain, head, plan } = node;
  if (number === undefined || number > head) return refuse(-32_000, "header not found");
  if (head - number > (plan.keptStates ?? Number.POSITIVE_INFINITY))
    return refuse(-32_000, `missing trie node ${chain.block(number).hash} (path ) state is not available`);
  const returned = execute(to, data, number);
  return returned === undefined ? refuse(3, "execution reverted") : { result: returned };
}

interface Filter {
  readonly fromBlock?: string;
  readonly toBlock?: string;
  readonly blockHash?: Hex;
  readonly address?: string | readonly string[];
  readonly topics?: readonly (readonly string[] | string | null)[];
}

function findBlock({ chain, head }: NodeState, hash: Hex | undefined): number | undefined {
  for (let number = head; number >= Math.max(0, head - 256); number--)
    if (chain.block(number).hash === hash) return number;
  return undefined;
}

function logsOf(filter: Filter, node: NodeState): Answer {
  const { plan, chain, head } = node;
  const hashed = filter.blockHash === undefined ? undefined : findBlock(node, filter.blockHash);
  if (filter.blockHash !== undefined && hashed === undefined) return refuse(-32_000, "unknown block");
  const from = hashed ?? Number(filter.fromBlock);
  const to = Math.min(head, hashed ?? Number(filter.toBlock));
  const most = plan.blocksARange ?? Number.POSITIVE_INFINITY;
  if (to - from + 1 > most)
    return refuse(
      -32_600,
      `Under the Free tier plan, you can make eth_getLogs requests with up to a ${most} block range.`,
    );
  const topics = filter.topics?.[0];
  const wanted = topics == null ? undefined : new Set<string>(typeof topics === "string" ? [topics] : topics);
  const addresses = filter.address === undefined ? undefined : new Set([filter.address].flat());
  const logs: ChainBlock["logs"][number][] = [];
  for (let number = from; number <= to; number++)
    for (const log of chain.block(number).logs)
      if ((wanted?.has(log.topics[0] as string) ?? true) && (addresses?.has(log.address) ?? true))
        logs.push(log);
  return { result: logs };
}

function receiptsOf({ transactions, logs, hash, number }: ChainBlock) {
  return transactions.map(({ hash: transactionHash, from, to, transactionIndex }) => ({
    ...{ transactionHash, transactionIndex, from, to, blockHash: hash, blockNumber: quantity(number) },
    ...{ status: "0x1", type: "0x2", gasUsed: quantity(100_000), cumulativeGasUsed: quantity(100_000) },
    ...{ contractAddress: null, effectiveGasPrice: quantity(1_000_000), logsBloom: `0x${"00".repeat(256)}` },
    logs: logs.filter((log) => log.transactionHash === transactionHash),
  }));
}

const selector = (signature: string) => toFunctionSelector(`function ${signature}`);
const word = (value: bigint): Hex => encodeAbiParameters([{ type: "uint256" }], [value]);
const symbol = encodeAbiParameters([{ type: "string" }], ["TKN"]);
/** What contracts return; any other function reverts. */
const RETURNED: Readonly<Record<string, (data: Hex, block: number) => Hex>> = {
  [selector("balanceOf(address)")]: (_, block) => word(10n ** 18n + BigInt(block)),
  [selector("symbol()")]: () => symbol,
  [selector("name()")]: () => symbol,
  [selector("decimals()")]: () => word(18n),
  [selector("getBlockNumber()")]: (_, block) => word(BigInt(block)),
  [selector("volatileFee()")]: () => word(30n),
  [selector("stableFee()")]: () => word(5n),
  [selector("getFee(address,bool)")]: () => word(30n),
  [selector("rateAtTarget(bytes32)")]: () => word(1_268_391_679n),
  [selector("market(bytes32)")]: (_, block) =>
    encodeAbiParameters(parseAbiParameters("uint128, uint128, uint128, uint128, uint128, uint128"), [
      ...([10n ** 24n + BigInt(block), 10n ** 30n, 10n ** 23n, 10n ** 29n] as const),
      ...([1_760_000_000n, 0n] as const),
    ]),
  [selector("idToMarketParams(bytes32)")]: (data) => {
    const market = marketOf(numberOfMarket(`0x${data.slice(10)}`));
    return encodeAbiParameters(parseAbiParameters("address, address, address, address, uint256"), [
      ...([market.loanToken, market.collateralToken, market.oracle, market.irm] as const),
      market.lltv,
    ]);
  },
};

const MOST_MARKETS = 1_000;
const numberOfMarket = (id: Hex) =>
  Array.from({ length: MOST_MARKETS }, (_, i) => i).findIndex((i) => marketId(i) === id);

/** Undefined where it reverts. */
function execute(to: Hex, data: Hex, block: number): Hex | undefined {
  if (to === `0x${"04".padStart(40, "0")}`) return data;
  const known = RETURNED[data.slice(0, 10)];
  if (known !== undefined) return known(data, block);
  if (to !== MULTICALL3) return undefined;
  const { args } = decodeFunctionData({ abi: multicall3Abi, data });
  const results = (args[0] as readonly { target: Hex; callData: Hex }[]).map(({ target, callData }) => {
    const returned = execute(target.toLowerCase() as Hex, callData, block);
    return { success: returned !== undefined, returnData: returned ?? "0x" };
  });
  return encodeFunctionResult({ abi: multicall3Abi, functionName: "aggregate3", result: results });
}
