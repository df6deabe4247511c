import { decisionAt, Leases } from "./leases.ts";
import { type LimitDecision, type Limiter, type LimitRequest, toDecision } from "./limiter.ts";
import type { LocalBuckets, TakeRequest } from "./local-buckets.ts";
import { createLocalLimiter, type LocalLimiter } from "./local-limiter.ts";
import type { BucketRequest, BucketResponse, SharedBuckets } from "./shared-buckets.ts";

export interface BatchingLimiterOptions {
  readonly keeper: SharedBuckets;
  /** What is known here: the last answer for each bucket, and where the next decision goes on without the keeper. */
  readonly buckets: LocalBuckets;
}

interface Waiter {
  readonly ask: LimitRequest;
  readonly decide: (decision: LimitDecision) => void;
}

/** Who asks for one bucket under one rule, in the order of coming. */
interface Line {
  readonly ask: LimitRequest;
  readonly waiters: Waiter[];
}

/** The keeper does nothing else meanwhile: some milliseconds at most. */
const MAX_BATCH = 1_000;

/**
 * Limits that several gateways share, exact to the request: every request that passes was taken from the one bucket
 * before, and none was taken that did not ask. It is cheap all the same:
 * - one question is under way at a time, and asks for everybody who came meanwhile: the busier the gateway, the fewer
 *   questions a request (limiter.bench.ts);
 * - a request that cannot pass by what was said last is refused without asking, since nothing but time empties a
 *   bucket. A flood costs the keeper nothing;
 * - of a bucket that is far from full, some are taken ahead, where the keeper has them (leases.ts).
 * While the keeper is away, buckets go on here from what was known, each gateway for itself.
 */
export function createBatchingLimiter({ keeper, buckets }: BatchingLimiterOptions): Limiter {
  const local = createLocalLimiter(buckets);
  const leases = keeper.giveBack && new Leases({ giveBack: (wanted) => keeper.giveBack?.(wanted) });
  let waiting: Waiter[] = [];
  let isAsking = false;

  const question = async (
    wanted: readonly (TakeRequest & Pick<BucketRequest, "ahead" | "unused">)[],
  ): Promise<readonly BucketResponse[] | undefined> => {
    const sent = buckets.readClocks();
    const answers = await keeper.take(
      wanted.map((each) => ({ ...each, known: buckets.tryTake({ ...each, want: 0 }, sent).bucket })),
    );
    // As of when it was asked, which is before it was decided: what is known here is never more than the truth.
    for (const [place, answer] of (answers ?? []).entries())
      buckets.adopt(wanted[place] as TakeRequest, answer.bucket, sent);
    return answers;
  };

  /** Asks for all who wait, and for another lease of a bucket that nobody waits for yet. */
  const serve = async (renewed?: LimitRequest): Promise<void> => {
    isAsking = true;
    try {
      for (let renewal = renewed; waiting.length > 0 || renewal !== undefined; renewal = undefined) {
        const lines = linesOf(waiting.slice(0, MAX_BATCH));
        if (renewal !== undefined) lines.push({ ask: renewal, waiters: [] });
        waiting = waiting.slice(MAX_BATCH);
        const answers = await question(
          lines.map(({ ask, waiters }) => ({
            ...ask,
            want: waiters.length,
            ahead: leases?.aheadOf(ask) ?? 0,
            unused: leases?.unusedOf(ask, waiters.length > 0) ?? 0,
          })),
        );
        for (const [place, line] of lines.entries()) {
          const answer = answers?.[place];
          decideAll(line, answer, local);
          if (answer !== undefined) leases?.open(line.ask, answer, line.waiters.length);
        }
        if (leases !== undefined) waiting = waiting.filter((waiter) => !decideFrom(leases, waiter));
      }
    } finally {
      isAsking = false;
    }
  };

  return {
    take(ask) {
      const leased = leases?.take(ask);
      if (leased !== undefined) {
        if (!isAsking && leases?.wantsRenewal(ask)) void serve(ask);
        return leased;
      }
      const moment = buckets.readClocks();
      const { kind, subject, rule } = ask;
      const { granted, bucket } = buckets.tryTake({ kind, subject, rule, want: 1 }, moment);
      if (granted === 0) return toDecision(false, { bucket, rule, wallUs: moment.wallUs });
      return new Promise((decide) => {
        waiting.push({ ask, decide });
        if (!isAsking) void serve();
      });
    },
    async peek(ask) {
      const answers = await question([{ ...ask, want: 0, ahead: 0, unused: 0 }]);
      const bucket = answers?.[0]?.bucket;
      if (bucket === undefined) return local.peek(ask);
      const state = toDecision(false, { bucket, rule: ask.rule, wallUs: bucket.atUs });
      return state.waitUs > 0 ? state : { ...state, isAllowed: true };
    },
    raiseUsage(of) {
      local.raiseUsage(of);
      keeper.learn?.(of);
    },
  };
}

/** Those who ask for the same bucket under the same rule, together. */
function linesOf(waiters: readonly Waiter[]): Line[] {
  const lines: Line[] = [];
  const lastOf = new Map<string, Line>();
  for (const waiter of waiters) {
    const { ask } = waiter;
    const name = `${ask.kind}:${ask.subject}`;
    const last = lastOf.get(name);
    if (last?.ask.rule === ask.rule) {
      last.waiters.push(waiter);
      continue;
    }
    const line = { ask, waiters: [waiter] };
    lastOf.set(name, line);
    lines.push(line);
  }
  return lines;
}

/** Whether a lease lets pass who came while the question for it was under way. */
function decideFrom(leases: Leases, { ask, decide }: Waiter): boolean {
  const decision = leases.take(ask);
  if (decision === undefined) return false;
  decide(decision);
  return true;
}

function decideAll({ ask, waiters }: Line, answer: BucketResponse | undefined, local: LocalLimiter): void {
  for (const [turn, { decide }] of waiters.entries())
    decide(answer ? decisionAt(turn, answer, ask.rule) : local.take(ask));
}
