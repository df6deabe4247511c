import { type LimitDecision, type LimitRequest, toDecision } from "./limiter.ts";
import type { TakeRequest } from "./local-buckets.ts";
import { COST, type LimitRule } from "./rule.ts";
import type { BucketResponse } from "./shared-buckets.ts";

/** For how long what was taken ahead may be used. */
export const LEASE_MS = 20;

/** A lease that passed fewer is not worth a question before somebody asks. */
const BUSY_TURNS = 20;

interface Lease {
  readonly ask: LimitRequest;
  readonly answer: BucketResponse;
  /** Who comes next in the line that was granted. */
  turn: number;
  /** Where the line ends: as long as it was granted, until the rest is given back. */
  end: number;
  /** Unused of leases before it, which the keeper has not been told of yet. */
  owed: number;
  isRenewed: boolean;
  readonly endsMs: number;
}

export interface LeasesOptions {
  readonly giveBack: (wanted: readonly TakeRequest[]) => void;
}

/**
 * Requests that a keeper has let pass ahead of their coming. As many are asked for as came within the last lease, so
 * that a bucket that is asked for now and then is never taken from ahead, and one that is asked for all the time costs
 * one question a lease. What is left at a lease's end is given back, with the next question where that comes soon.
 *
 * A request is counted at most LEASE_MS before it comes, as if it had come faster. That nobody else is refused for it
 * is the keeper's part: it lets nothing go ahead of a bucket that could be full before the lease ends (bucket-room.ts).
 */
export class Leases {
  readonly #giveBack: LeasesOptions["giveBack"];
  readonly #leases = new Map<string, Lease>();
  #timer: NodeJS.Timeout | undefined;

  constructor({ giveBack }: LeasesOptions) {
    this.#giveBack = giveBack;
  }

  /** The decision on a request that was let pass ahead; undefined = the keeper must be asked. */
  take(ask: LimitRequest): LimitDecision | undefined {
    const lease = this.#leases.get(nameOf(ask));
    // A rule that has changed since, or time that is over.
    if (lease === undefined || lease.ask.rule !== ask.rule || lease.turn >= lease.end) return undefined;
    if (performance.now() >= lease.endsMs) return undefined;
    const decision = decisionAt(lease.turn, lease.answer, ask.rule);
    lease.turn += 1;
    return decision;
  }

  /** Whether it is time to ask for the next lease of a busy bucket: so nobody has to wait for it. Says so once a lease. */
  wantsRenewal(ask: LimitRequest): boolean {
    const lease = this.#leases.get(nameOf(ask));
    if (lease === undefined || lease.isRenewed || lease.turn < BUSY_TURNS) return false;
    const isShort =
      lease.end - lease.turn < lease.turn / 2 || performance.now() > lease.endsMs - LEASE_MS / 2;
    if (isShort) lease.isRenewed = true;
    return isShort;
  }

  /** How many to ask for ahead: twice what the last lease let pass, if that was just now. */
  aheadOf(ask: LimitRequest): number {
    const lease = this.#leases.get(nameOf(ask));
    return lease === undefined ? 0 : lease.turn * 2;
  }

  /**
   * What the next question gives back: what leases that are over have left, and of this one too where it `isOver`.
   * The keeper has it again.
   */
  unusedOf(ask: LimitRequest, isOver: boolean): number {
    const lease = this.#leases.get(nameOf(ask));
    if (lease === undefined || lease.ask.rule !== ask.rule) return 0;
    if (isOver) close(lease);
    const { owed } = lease;
    lease.owed = 0;
    return owed;
  }

  /** Begins a lease; `turn` requests of the answer have been let pass already. */
  open(ask: LimitRequest, answer: BucketResponse, turn: number): void {
    const before = this.#leases.get(nameOf(ask));
    let owed = 0;
    if (before !== undefined && before.ask.rule === ask.rule) {
      close(before);
      owed = before.owed;
    } else if (before !== undefined) this.#return([before]);
    const end = Math.max(turn, answer.granted);
    this.#leases.set(nameOf(ask), {
      ...{ ask, answer, turn, end, owed },
      isRenewed: false,
      endsMs: performance.now() + LEASE_MS,
    });
    this.#timer ??= setTimeout(() => this.#sweep(), LEASE_MS).unref();
  }

  /** A lease is remembered for a time of its own length after its end: for what it says about the next, and for its rest. */
  #sweep(): void {
    const forgetMs = performance.now() - LEASE_MS;
    const ended = [...this.#leases.values()].filter((lease) => forgetMs >= lease.endsMs);
    this.#return(ended);
    for (const lease of ended) this.#leases.delete(nameOf(lease.ask));
    this.#timer = this.#leases.size === 0 ? undefined : setTimeout(() => this.#sweep(), LEASE_MS).unref();
  }

  #return(leases: readonly Lease[]): void {
    const unused: TakeRequest[] = [];
    for (const lease of leases) {
      close(lease);
      if (lease.owed > 0) unused.push({ ...lease.ask, want: lease.owed });
      lease.owed = 0;
    }
    if (unused.length > 0) this.#giveBack(unused);
  }
}

function close(lease: Lease): void {
  lease.owed += lease.end - lease.turn;
  lease.end = lease.turn;
}

/** What the request at this turn of a line is told: as if the line had come one after the other. */
export function decisionAt(
  turn: number,
  { granted, bucket }: BucketResponse,
  rule: LimitRule,
): LimitDecision {
  const after = Math.max(0, granted - 1 - turn);
  const { level, used } = bucket;
  const then = {
    ...bucket,
    level: level - after * COST,
    used: rule.dailyQuota === null ? used : used - after,
  };
  return toDecision(turn < granted, { bucket: then, rule, wallUs: bucket.atUs });
}

function nameOf({ kind, subject }: LimitRequest): string {
  return `${kind}:${subject}`;
}
