/**
 * What went wrong with one call, as far as it decides what happens next:
 * - `range`     the node refuses the size of an eth_getLogs: ask another endpoint, then shrink
 * - `batch`     the node refuses the size of the JSON-RPC batch: send smaller ones
 * - `rate`      too many requests: leave this endpoint alone for a while
 * - `state`     the block's state or history is pruned here: ask another endpoint
 * - `method`    the node does not offer the method: ask another endpoint
 * - `reverted`  the call itself fails on every honest node
 * - `behind`    the node has not seen the block yet: ask another endpoint, then wait
 * - `missing`   the node knows no such block, or says that its slot was skipped
 * - `untrusted` the answer contradicts itself or the question: ask again elsewhere
 * - `fatal`     this endpoint is of no use as configured (wrong chain, key refused)
 * - `contradicts` the endpoint contradicts what is known to be final: ask another endpoint, check this one again soon
 * - `transient` everything else, also every text nobody has seen before: retry
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
  /** For the log; free of URL paths, queries and keys. */
  readonly message: string;
  /** `range`: the range the provider named. */
  readonly suggested?: { readonly fromBlock: number; readonly toBlock: number };
  /** `range`: the number of blocks the provider named as its limit; `batch`: calls a batch. */
  readonly limit?: number;
  /** `rate`: how long the provider wants to be left alone. */
  readonly retryAfterMs?: number;
  /** The request ran into our own deadline. */
  readonly timedOut?: boolean;
}

/** An endpoint that says this about a call would say it again at once: another one has to be asked. */
export function isRefusal(kind: FaultKind): boolean {
  return (
    kind === "range" || kind === "state" || kind === "method" || kind === "missing" || kind === "reverted"
  );
}
