import type { Endpoint } from "./endpoint/endpoint.ts";
import { type Fault, isRefusal } from "./endpoint/fault.ts";
import type { RpcCall, RpcResponse } from "./endpoint/transport.ts";

export type Outcome<T> = { readonly value: T } | { readonly fault: Fault };

/** A request: one or more calls that one endpoint must answer together. */
export interface RpcRequest<T> {
  readonly calls: readonly RpcCall[];
  /** Decodes the responses to a value, or returns their fault. */
  read(responses: readonly RpcResponse[]): Outcome<T>;
  /**
   * Called once every endpoint in service has refused (size, state, method, no such block), or after `maxFailures`: a
   * value settles the request, an Error is thrown, undefined continues.
   */
  conclude?(refusals: readonly Fault[]): { readonly value: T } | Error | undefined;
  /**
   * Whether the value shows what the ConsistencyCheck asks for; undefined = neither that nor the contrary. Absent where
   * neither a value nor a fault says anything of that.
   */
  showsChain?(value: T): boolean | undefined;
  /** Failures (a missed deadline counts double) before `conclude` is called; unset = the pool's total time decides. */
  readonly maxFailures?: number;
}

/** A request on its way through the endpoints. */
export interface PendingRequest<T> {
  readonly request: RpcRequest<T>;
  readonly index: number;
  readonly refusals: Map<Endpoint, Fault>;
  failures: number;
}

export interface Attempt {
  readonly endpoint: Endpoint;
  readonly responses: readonly RpcResponse[];
}

export function createPendingRequests<T>(requests: readonly RpcRequest<T>[]): PendingRequest<T>[] {
  return requests.map((request, index) => ({ request, index, refusals: new Map(), failures: 0 }));
}

/** Groups requests to at most `size` calls; a request is never split. */
export function groupRequests<T extends PendingRequest<unknown>>(
  requests: readonly T[],
  size: number,
): T[][] {
  const groups: T[][] = [];
  let calls = 0;
  for (const item of requests) {
    const group = groups[groups.length - 1];
    calls += item.request.calls.length;
    if (group === undefined || calls > size) {
      groups.push([item]);
      calls = item.request.calls.length;
    } else {
      group.push(item);
    }
  }
  return groups;
}

/** The calls of the requests in batches of at most `size`; a larger request is sent call by call. */
export function groupCalls(requests: readonly PendingRequest<unknown>[], size: number): RpcCall[][] {
  return groupRequests(requests, size).flatMap((group) => {
    const calls = group.flatMap((item) => item.request.calls);
    return calls.length <= size ? [calls] : calls.map((call) => [call]);
  });
}

/** Puts values into `results`; returns the other requests with the last fault. Records the endpoint's success or failure. */
export function settle<T>(
  requests: readonly PendingRequest<T>[],
  { endpoint, responses }: Attempt,
  results: T[],
) {
  const faults: Fault[] = [];
  const left: PendingRequest<T>[] = [];
  let offset = 0;
  for (const item of requests) {
    const own = responses.slice(offset, offset + item.request.calls.length);
    offset += item.request.calls.length;
    const outcome = item.request.read(own);
    noteChain(item.request, { endpoint, outcome });
    if ("value" in outcome) {
      results[item.index] = outcome.value;
      continue;
    }
    const { fault } = outcome;
    if (isRefusal(fault.kind)) item.refusals.set(endpoint, fault);
    if (fault.kind === "transient") item.failures += fault.timedOut === true ? 2 : 1;
    faults.push(fault);
    left.push(item);
  }
  const untrusted = faults.find((fault) => fault.kind === "untrusted");
  if (untrusted !== undefined)
    endpoint.recordUntrusted(untrusted, requests[0]?.request.calls.at(-1)?.method ?? "");
  else if (left.length < requests.length || faults.some((fault) => fault.kind !== "transient"))
    endpoint.recordGoodResponse();
  return { left, lastFault: faults[faults.length - 1] };
}

/** Faults of an endpoint that lacks the block it was asked for by hash, or has another. */
const DOUBTFUL: ReadonlySet<Fault["kind"]> = new Set(["behind", "missing", "untrusted"]);

/** Tells the endpoint what its response says of its chain. */
function noteChain<T>(
  { showsChain }: RpcRequest<T>,
  { endpoint, outcome }: { endpoint: Endpoint; outcome: Outcome<T> },
): void {
  if (showsChain === undefined) return;
  const isShown =
    "value" in outcome ? showsChain(outcome.value) : DOUBTFUL.has(outcome.fault.kind) ? false : undefined;
  if (isShown !== undefined) endpoint.recordChain(isShown);
}

/** The result of a request after a round: continue, a value, or failure. */
export function concludeRequest<T>(
  item: PendingRequest<T>,
  inService: readonly Endpoint[],
): { value: T } | Error | "continue" | "refused" {
  const refusals = [...item.refusals.values()];
  // A range that one endpoint refuses is halved at once, even if another endpoint is unavailable now.
  const isExhausted =
    refusals.length > 0 &&
    (refusals.some((fault) => fault.kind === "range") ||
      inService.every((endpoint) => item.refusals.has(endpoint)));
  const isTooSlow = item.failures >= (item.request.maxFailures ?? Number.POSITIVE_INFINITY);
  if (!isExhausted && !isTooSlow) return "continue";
  const conclusion = item.request.conclude?.(refusals);
  if (conclusion !== undefined) return conclusion;
  if (isExhausted && refusals.every(({ kind }) => kind === "state" || kind === "method")) return "refused";
  item.refusals.clear();
  return "continue";
}
