import type { Clock } from "./endpoint/clock.ts";
import { type Endpoint, latencyKey, type SourceEvent } from "./endpoint/endpoint.ts";
import { type Attempt, groupCalls, type PendingRequest } from "./pending-request.ts";

export interface HedgeOptions {
  readonly clock: Clock;
  readonly minHedgeMs: number;
  readonly onEvent: (event: SourceEvent) => void;
  readonly lifetime: AbortSignal;
}

/** Abort reason of every finished request: a new Error would collect a stack each time. */
const OVER = new Error("the request is over");

/** One round trip to one endpoint, in as many batches as its batch size needs. */
async function send(
  endpoint: Endpoint,
  requests: readonly PendingRequest<unknown>[],
  signal: AbortSignal,
): Promise<Attempt> {
  const groups = groupCalls(requests, endpoint.batchSize());
  const answered = await Promise.all(groups.map((calls) => endpoint.send(calls, signal)));
  return { endpoint, responses: answered.flat() };
}

/**
 * Sends requests to one endpoint, and also to a second one once the first takes longer than its 95th percentile; the
 * first useful response wins, and the other request is aborted. All requests are reads, so that sending twice is safe.
 */
export async function sendHedged(
  requests: readonly PendingRequest<unknown>[],
  [first, spare]: readonly [Endpoint, Endpoint | undefined],
  { clock, minHedgeMs, onEvent, lifetime }: HedgeOptions,
): Promise<Attempt> {
  const leader = new AbortController();
  const follower = new AbortController();
  const end = () => {
    leader.abort(OVER);
    follower.abort(OVER);
  };
  lifetime.addEventListener("abort", end, { once: true });
  try {
    const leading = send(first, requests, leader.signal);
    const p95 = first.latency.p95(latencyKey(groupCalls(requests, first.batchSize())[0] ?? []));
    if (spare === undefined || p95 === undefined) return await leading;
    const cancelled = new AbortController();
    const timer = clock.sleep(Math.max(p95, minHedgeMs), cancelled.signal).then(() => undefined);
    const early = await Promise.race([leading, timer]);
    cancelled.abort();
    if (early !== undefined) return early;
    onEvent({ kind: "hedge", host: spare.host, method: requests[0]?.request.calls.at(-1)?.method ?? "" });
    const trailing = send(spare, requests, follower.signal);
    const winner = await Promise.race([leading, trailing]);
    if (isUseful(winner)) return winner;
    const other = await (winner.endpoint === first ? trailing : leading);
    return isUseful(other) ? other : winner;
  } finally {
    lifetime.removeEventListener("abort", end);
    end();
  }
}

function isUseful(attempt: Attempt): boolean {
  return attempt.responses.some(({ ok }) => ok);
}
