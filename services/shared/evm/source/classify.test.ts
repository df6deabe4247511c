import { expect } from "chai";
import { describe, it } from "mocha";
import type { Fault } from "../../rpc-client/endpoint/fault.ts";
import type { RpcErrorInput } from "../../rpc-client/endpoint/fault-rules.ts";
import { classifyRpcError } from "./classify.ts";

type Row = readonly [name: string, input: RpcErrorInput, expected: Partial<Fault>];

const logs = (code: number, message: string, more: Partial<RpcErrorInput> = {}): RpcErrorInput => {
  return { method: "eth_getLogs", code, message, ...more };
};
const call = (code: number, message: string, more: Partial<RpcErrorInput> = {}): RpcErrorInput => {
  return { method: "eth_call", code, message, ...more };
};

// Texts as providers and nodes were seen to send them.
const TOO_LARGE: Row[] = [
  [
    "Alchemy, too many logs",
    logs(
      -32602,
      "Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size, or you can request any block range with a cap of 10K logs in the response. Based on your parameters and the response size limit, this block range should work: [0x0, 0xd043b8]",
    ),
    { kind: "range", suggested: { fromBlock: 0, toBlock: 0xd043b8 } },
  ],
  [
    "Alchemy, too many blocks, with HTTP 400",
    logs(
      -32600,
      "You can make eth_getLogs requests with up to a 500 block range. Based on your parameters, this block range should work: [0x1a30dfd, 0x1a30ff0]",
      { httpStatus: 400 },
    ),
    { kind: "range", suggested: { fromBlock: 0x1a30dfd, toBlock: 0x1a30ff0 }, limit: 500 },
  ],
  [
    "Alchemy, query timeout",
    logs(
      -32000,
      "Query timeout exceeded. Consider reducing your block range. Based on your parameters and the response size limit, this block range should work: [0x42b950f, 0x435784f]",
    ),
    { kind: "range", suggested: { fromBlock: 0x42b950f, toBlock: 0x435784f } },
  ],
  [
    "Infura, too many results",
    logs(-32005, "query returned more than 10000 results. Try with this block range [0xBDE5F8, 0x102DBCC].", {
      data: { from: "0xBDE5F8", limit: 10000, to: "0x102DBCC" },
    }),
    { kind: "range", suggested: { fromBlock: 0xbde5f8, toBlock: 0x102dbcc } },
  ],
  [
    "Infura, the range in data only",
    logs(-32005, "query returned more than 10000 results", {
      data: { from: "0x10", limit: 10000, to: "0x20" },
    }),
    { kind: "range", suggested: { fromBlock: 16, toBlock: 32 } },
  ],
  [
    "Infura, too many blocks",
    logs(-32602, "range 1000000 exceeds limit of 10000"),
    { kind: "range", limit: 10_000 },
  ],
  ["QuickNode", logs(-32614, "eth_getLogs is limited to a 10,000 range"), { kind: "range", limit: 10_000 }],
  [
    "QuickNode with HTTP 413",
    logs(-32614, "eth_getLogs is limited to a 5 range", { httpStatus: 413 }),
    { kind: "range", limit: 5 },
  ],
  ["1RPC", logs(-32602, "eth_getLogs is limited to 0 - 50 blocks range"), { kind: "range", limit: 50 }],
  ["Ankr", logs(-32600, "block range is too wide"), { kind: "range" }],
  ["Moonbeam", logs(-32603, "block range is too wide (maximum 1024)"), { kind: "range", limit: 1024 }],
  ["geth", logs(-32000, "exceed maximum block range: 5000"), { kind: "range", limit: 5000 }],
  ["publicnode", logs(-32701, "exceed maximum block range: 50000"), { kind: "range", limit: 50_000 }],
  ["erigon", logs(-32000, "query returned more than 20000 results"), { kind: "range" }],
  [
    "Nethermind, words in data",
    logs(-32602, "invalid params", {
      data: "Query returned more than 50000 results. Try with this block range [0x1000000, 0x1080000].",
    }),
    { kind: "range", suggested: { fromBlock: 0x1000000, toBlock: 0x1080000 } },
  ],
  [
    "Tenderly, words deep in data",
    logs(-32602, "invalid params", {
      data: { error_id: "4ed94073", payload: "range 9009594 is bigger than range limit 2000" },
    }),
    { kind: "range", limit: 2000 },
  ],
  [
    "reth, too many blocks",
    logs(-32602, "query exceeds max block range 100000"),
    { kind: "range", limit: 100_000 },
  ],
  [
    "reth, too many results",
    logs(-32602, "query exceeds max results 20000, retry with the range 25766988-25775071"),
    { kind: "range", suggested: { fromBlock: 25766988, toBlock: 25775071 } },
  ],
  [
    "Cloudflare",
    logs(-32047, "Invalid eth_getLogs request. 'fromBlock'-'toBlock' range too large. Max range: 800"),
    { kind: "range", limit: 800 },
  ],
  [
    "dRPC",
    logs(35, "ranges over 10000 blocks are not supported on freetier"),
    { kind: "range", limit: 10_000 },
  ],
  ["Coinbase", logs(-32602, "please limit the query to at most 1000 blocks"), { kind: "range", limit: 1000 }],
  ["Coinbase, results", logs(-32000, "logs matched by query exceeds limit of 10000"), { kind: "range" }],
  ["Base public", logs(-32603, "block range too large"), { kind: "range" }],
  [
    "Avalanche",
    logs(-32000, "requested too many blocks from 50331648 to 51380224, maximum is set to 2048"),
    { kind: "range", limit: 2048 },
  ],
  ["Cronos", logs(-32000, "maximum [from, to] blocks distance: 2000"), { kind: "range", limit: 2000 }],
  [
    "Morph",
    logs(-32000, "block range is larger than max block range, block range = 5120, max block range = 5000"),
    { kind: "range", limit: 5000 },
  ],
  [
    "Ronin",
    logs(-32602, "Invalid params", {
      data: "requested block range 16777217 exceeds the limit of 200; narrow your fromBlock/toBlock",
    }),
    { kind: "range", limit: 200 },
  ],
  [
    "PulseChain",
    logs(-32000, "query returned more than allowed number of logs, try with smaller block range"),
    { kind: "range" },
  ],
  ["BSC, no reason", logs(-32005, "limit exceeded"), { kind: "range" }],
  ["a node that runs out of time", logs(-32002, "request timed out"), { kind: "range" }],
  [
    "a body too large for a proxy",
    { method: "eth_getLogs", httpStatus: 413, message: "Request Entity Too Large" },
    { kind: "range" },
  ],
  [
    "response too big",
    logs(-32008, "Response is too big", { data: "Exceeded max limit of 167772160" }),
    { kind: "range" },
  ],
];

const OTHERS: Row[] = [
  [
    "HTTP 429",
    { method: "eth_getLogs", httpStatus: 429, retryAfterMs: 2000, message: "" },
    { kind: "rate", retryAfterMs: 2000 },
  ],
  [
    "Alchemy rate",
    logs(
      429,
      "Your app has exceeded its compute units per second capacity. If you have retries enabled, you can safely ignore this message.",
    ),
    { kind: "rate" },
  ],
  ["Infura daily", call(-32005, "daily request count exceeded, request rate limited"), { kind: "rate" }],
  [
    "Infura project",
    logs(-32005, "project ID request rate exceeded", {
      data: { rate: { allowed_rps: 10, backoff_seconds: 30, current_rps: 12 } },
    }),
    { kind: "rate" },
  ],
  [
    "QuickNode rate",
    call(-32007, "50/second request limit reached - reduce calls per second or upgrade your account"),
    { kind: "rate" },
  ],
  ["QuickNode credits", call(-32012, "credits limited to 6000/sec"), { kind: "rate" }],
  ["Base rate", call(-32016, "over rate limit"), { kind: "rate" }],
  ["code alone", call(-32005, ""), { kind: "rate" }],
  [
    "geth pruned",
    call(
      -32000,
      "missing trie node b03d68ac51042467d7637d4ef9e1c52370abc410f263166965cb1e280b1f6d17 (path )",
    ),
    { kind: "state" },
  ],
  ["geth path scheme", call(-32000, "historical state 0xabc is not available"), { kind: "state" }],
  ["geth expired history", logs(4444, "pruned history unavailable"), { kind: "state" }],
  ["Infura archive", call(-32002, "project ID does not have access to archive state"), { kind: "state" }],
  [
    "publicnode archive",
    logs(
      -32602,
      "Archive requests require a personal token. Get one at: https://www.allnodes.com/publicnode",
    ),
    { kind: "state" },
  ],
  [
    "Parity pruned",
    call(
      -32000,
      "This request is not supported because your node is running with state pruning. Run with --pruning=archive.",
    ),
    { kind: "state" },
  ],
  [
    "Nethermind trie",
    call(-32603, "Internal error", {
      data: "Nethermind.Trie.MissingTrieNodeException: Node A: P:2 is missing from the DB",
    }),
    { kind: "state" },
  ],
  ["reth", call(-32000, "distance to target block exceeds maximum proof window"), { kind: "state" }],
  [
    "method unknown",
    {
      method: "eth_getBlockReceipts",
      code: -32601,
      message: "the method eth_getBlockReceipts does not exist/is not available",
    },
    { kind: "method" },
  ],
  [
    "method not found",
    { method: "eth_getBlockReceipts", code: -32601, message: "Method not found" },
    { kind: "method" },
  ],
  [
    "method not in plan",
    {
      method: "eth_getBlockReceipts",
      code: -32600,
      message: "The method eth_getBlockReceipts is not available on the free tier",
    },
    { kind: "method" },
  ],
  ["revert", call(3, "execution reverted: STF", { data: "0x08c379a0" }), { kind: "reverted" }],
  ["revert without code", call(-32000, "execution reverted"), { kind: "reverted" }],
  ["Parity revert", call(-32015, "VM execution error.", { data: "Reverted 0x" }), { kind: "reverted" }],
  ["out of gas", call(-32000, "out of gas"), { kind: "reverted" }],
  ["reth beyond head", logs(-32602, "block range extends beyond current head block"), { kind: "behind" }],
  ["geth header", call(-32000, "header not found"), { kind: "behind" }],
  ["unknown block", logs(-32000, "unknown block"), { kind: "behind" }],
  ["geth header by hash", call(-32000, "header for hash not found"), { kind: "behind" }],
  ["geth fork by hash", call(-32000, "hash is not currently canonical"), { kind: "behind" }],
  ["reth block by hash", call(-32001, "block not found: hash 0xabc"), { kind: "behind" }],
  ["anvil block by hash", call(-32001, "Resource not found"), { kind: "behind" }],
  [
    "a node without EIP-1898",
    {
      ...call(-32602, "invalid argument 1: json: cannot unmarshal object into Go value of type string"),
      feature: "eth_call by block hash",
    },
    { kind: "method" },
  ],
  [
    "the same words to a plain call",
    call(-32602, "invalid argument 1: cannot unmarshal"),
    { kind: "transient" },
  ],
  [
    "unauthorised",
    { method: "eth_call", httpStatus: 401, message: "Must be authenticated!" },
    { kind: "fatal" },
  ],
  ["forbidden", { method: "eth_call", httpStatus: 403, message: "" }, { kind: "fatal" }],
  [
    "Ankr key",
    logs(
      -32000,
      "Unauthorized: You must authenticate your request with an API key. Create an account on https://www.ankr.com/rpc/ and generate your personal API key for free.",
    ),
    { kind: "fatal" },
  ],
  ["batch too large", { code: -32600, message: "batch too large (limit: 20)" }, { kind: "batch", limit: 20 }],
  [
    "batch in dRPC's words",
    { code: 31, message: "Batch of more than 3 requests are not allowed on free tier" },
    { kind: "batch", limit: 3 },
  ],
  ["geth batch", { code: -32600, message: "batch too large" }, { kind: "batch" }],
  [
    "HTTP 503",
    { method: "eth_call", httpStatus: 503, message: "Service Unavailable", retryAfterMs: 5000 },
    { kind: "transient", retryAfterMs: 5000 },
  ],
  ["an unknown text", call(-31337, "the hamster is asleep"), { kind: "transient" }],
  ["nothing at all", {}, { kind: "transient" }],
  [
    "invalid params without a word on ranges",
    logs(-32602, "invalid argument 0: json: cannot unmarshal"),
    { kind: "transient" },
  ],
];

describe("classifyRpcError", () => {
  for (const [name, input, expected] of [...TOO_LARGE, ...OTHERS]) {
    it(`${expected.kind}: ${name}`, () => {
      expect(classifyRpcError(input)).to.deep.include(expected);
    });
  }

  it("names no limit of blocks where the limit counts results", () => {
    for (const message of [
      "logs matched by query exceeds limit of 10000",
      "query returned more than 10000 results",
    ]) {
      expect(classifyRpcError(logs(-32000, message))).not.to.have.property("limit");
    }
  });

  it("ignores a suggested range that ends before it starts", () => {
    const fault = classifyRpcError(logs(-32602, "this block range should work: [0x20, 0x1f]"));
    expect(fault.kind).to.equal("range");
    expect(fault).not.to.have.property("suggested");
  });

  it("does not read a bracketed list of names as a range", () => {
    expect(classifyRpcError(logs(-32000, "maximum [from, to] blocks distance: 2000"))).not.to.have.property(
      "suggested",
    );
  });

  it("does not take words from an echoed request", () => {
    const data = { request_body: { method: "eth_getLogs", params: ["block range is too wide"] } };
    expect(classifyRpcError(call(-32000, "upstream failure", { data })).kind).to.equal("transient");
  });
});
