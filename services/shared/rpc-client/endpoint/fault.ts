/**
 * Why a call failed; the kind decides what happens next:
 * - `range`     the node refuses the range of an eth_getLogs: try another endpoint, then a smaller range
 * - `batch`     the node refuses the size of the JSON-RPC batch: send smaller ones
 * - `rate`      too many requests: pause this endpoint
 * - `state`     the node has pruned the block's state or history: try another endpoint
 * - `method`    the node does not support the method: try another endpoint
 * - `reverted`  the call itself fails on every honest node
 * - `behind`    the node does not have the block yet: try another endpoint, then wait
 * - `missing`   the node has no such block, or reports its slot as skipped
 * - `untrusted` the response contradicts itself or the request: try another endpoint
 * - `fatal`     the endpoint cannot be used as configured (wrong chain, key rejected)
 * - `contradicts` the endpoint contradicts a final block: try another endpoint, check this one again soon
 * - `transient` everything else, including unknown error texts: retry
 */
export type FaultKind =
  | "range"
  | "batch"
  | "rate"
  | "state"
  | "method"
  | "reverted"
  | "behind"
  | "missing"
  | "untrusted"
  | "fatal"
  | "contradicts"
  | "transient";

export interface Fault {
  readonly kind: FaultKind;
  /** For the log; without URL paths, queries and keys. */
  readonly message: string;
  /** `range`: the range the provider named. */
  readonly suggested?: { readonly fromBlock: number; readonly toBlock: number };
  /** `range`: the provider's limit in blocks; `batch`: in calls. */
  readonly limit?: number;
  /** `rate`: the pause that the provider requests. */
  readonly retryAfterMs?: number;
  /** The request exceeded the client's own deadline. */
  readonly timedOut?: boolean;
}

/** Whether the same endpoint would fail in the same way again: the call needs another endpoint. */
export function isRefusal(kind: FaultKind): boolean {
  return (
    kind === "range" || kind === "state" || kind === "method" || kind === "missing" || kind === "reverted"
  );
}
