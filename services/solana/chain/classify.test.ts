import { expect } from "chai";
import { describe, it } from "mocha";
import type { FaultKind } from "../../shared/rpc-client/endpoint/fault.ts";
import type { RpcErrorInput } from "../../shared/rpc-client/endpoint/fault-rules.ts";
import { classifySolanaError } from "./classify.ts";

// Texts as nodes and providers were seen to send them.
const ROWS: readonly [string, RpcErrorInput, FaultKind][] = [
  [
    "cleaned up",
    { code: -32001, message: "Block 5 cleaned up, does not exist on node. First available block: 900" },
    "state",
  ],
  ["no block", { code: -32004, message: "Block not available for slot 331234567" }, "missing"],
  [
    "skipped",
    { code: -32007, message: "Slot 250 was skipped, or missing due to ledger jump to recent snapshot" },
    "missing",
  ],
  [
    "skipped long ago",
    { code: -32009, message: "Slot 250 was skipped, or missing in long-term storage" },
    "missing",
  ],
  ["skipped, by the code alone", { code: -32007, message: "" }, "missing"],
  ["behind", { code: -32005, message: "Node is behind by 42 slots" }, "behind"],
  ["unhealthy", { code: -32005, message: "Node is unhealthy" }, "behind"],
  ["no status yet", { code: -32014, message: "Block status not yet available for slot 9" }, "behind"],
  ["no history", { code: -32011, message: "Transaction history is not available from this node" }, "state"],
  [
    "a new version",
    {
      code: -32015,
      message:
        'Transaction version (1) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": 1',
    },
    "state",
  ],
  [
    "QuickNode's limit",
    { code: -32007, message: "50/second request limit reached - reduce calls per second" },
    "rate",
  ],
  [
    "the public limit",
    { httpStatus: 429, code: 429, message: "Too many requests for a specific RPC call" },
    "rate",
  ],
  ["Helius' limit", { httpStatus: 429, code: -32429, message: "rate limited" }, "rate"],
  ["no batches", { httpStatus: 400, message: "Batch requests are not allowed" }, "batch"],
  ["no method", { code: -32601, message: "Method not found" }, "method"],
  ["disabled", { httpStatus: 410, message: "The RPC call or parameters have been disabled." }, "method"],
  ["a key refused", { httpStatus: 401, message: "invalid api key provided" }, "fatal"],
  ["a paid method", { method: "getTokenLargestAccounts", httpStatus: 403, message: "Forbidden" }, "method"],
  [
    "not a mint",
    { method: "getTokenLargestAccounts", code: -32602, message: "Invalid param: not a Token mint" },
    "state",
  ],
  [
    "too many accounts",
    { method: "getTokenLargestAccounts", code: -32012, message: "scan aborted" },
    "state",
  ],
  ["anything else", { code: -32603, message: "Internal error" }, "transient"],
  [
    "storage down",
    { code: -32019, message: "Failed to query long-term storage; please try again" },
    "transient",
  ],
];

describe("classifySolanaError", () => {
  for (const [name, input, kind] of ROWS) {
    it(`${name}: ${kind}`, () => expect(classifySolanaError(input).kind).to.equal(kind));
  }

  it("keeps how long a rate limit lasts", () => {
    expect(classifySolanaError({ httpStatus: 429, retryAfterMs: 5_000 })).to.deep.include({
      kind: "rate",
      retryAfterMs: 5_000,
    });
  });
});
