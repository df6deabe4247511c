import type { Clock } from "./clock.ts";
import { type Endpoint, latencyKey, type SourceEvent } from "./endpoint.ts";
import { type Attempt, groupCalls, type Work } from "./work.ts";

export interface HedgeOptions {
  readonly clock: Clock;
  readonly minHedgeMs: number;
  readonly onEvent: (event: SourceEvent) => void;
  readonly lifetime: AbortSignal;
}

/** Every request ends with it: an error of its own would have its stack written each time. */
const OVER = new Error("the request is over");

/** One round trip to one endpoint, in as many requests as its batch size asks for. */
async function attempt(
  endpoint: Endpoint,
  work: readonly Work<unknown>[],
  signal: AbortSignal,
): Promise<Attempt> {
  const groups = groupCalls(work, endpoint.batchSize());
  const answered = await Promise.all(groups.map((calls) => endpoint.send(calls, signal)));
  return { endpoint, replies: answered.flat() };
}

/**
 * Asks one endpoint, and a second one too once the first takes longer than it does 19 times in 20; the first useful
 * answer wins and the other request is given up. All our questions are reads, so asking twice changes nothing.
 */
export async function attemptHedged(
  work: readonly Work<unknown>[],
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
    const leading = attempt(first, work, leader.signal);
    const p95 = first.latency.p95(latencyKey(groupCalls(work, first.batchSize())[0] ?? []));
    if (spare === undefined || p95 === undefined) return await leading;
    const cancelled = new AbortController();
    const timer = clock.sleep(Math.max(p95, minHedgeMs), cancelled.signal).then(() => undefined);
    const early = await Promise.race([leading, timer]);
    cancelled.abort();
    if (early !== undefined) return early;
    onEvent({ kind: "hedge", host: spare.host, method: work[0]?.question.calls.at(-1)?.method ?? "" });
    const trailing = attempt(spare, work, follower.signal);
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
  return attempt.replies.some((reply) => reply.ok);
}
