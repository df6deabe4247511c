import { BoundedMap } from "../../bounded-map.ts";
import type { Clock } from "../../request/clock.ts";
import { type Bucket, type ClockReading, putBack, type TakeResult, takeFrom } from "./bucket.ts";
import { LIMIT_KINDS, type LimitKind } from "./limiter.ts";
import type { LimitRule } from "./rule.ts";

export interface TakeRequest {
  readonly kind: LimitKind;
  readonly subject: string;
  readonly rule: LimitRule;
  readonly want: number;
}

/** Of each kind: some 250 bytes each, so at worst some 90 MB in a flood from ever new addresses. */
const MAX_EACH = 50_000;

/**
 * The buckets this process knows. A map each kind, so that a flood from many addresses cannot push out keys; in each
 * the one that took nothing for longest goes first, and comes back empty.
 */
export class LocalBuckets {
  readonly #clock: Clock;
  readonly #buckets: Readonly<Record<LimitKind, BoundedMap<Bucket>>>;
  #skewUs = 0;

  constructor(clock: Clock, maxEach = MAX_EACH) {
    this.#clock = clock;
    this.#buckets = Object.fromEntries(
      LIMIT_KINDS.map((kind) => [kind, new BoundedMap<Bucket>(maxEach)]),
    ) as Record<LimitKind, BoundedMap<Bucket>>;
  }

  /** Buckets drain by the clock that never goes back; days come from the wall clock, as Redis has it where it is known. */
  readClocks(): ClockReading {
    const nowUs = Math.floor(this.#clock.monotonicMs() * 1000);
    return { nowUs, wallUs: Math.floor(this.#clock.nowMs() * 1000) + this.#skewUs };
  }

  /** What taking would give, without doing so. */
  tryTake({ kind, subject, rule, want }: TakeRequest, moment: ClockReading): TakeResult {
    return takeFrom(this.#buckets[kind].get(subject), moment, { rule, want });
  }

  take(wanted: TakeRequest, moment: ClockReading): TakeResult {
    const taken = this.tryTake(wanted, moment);
    if (taken.granted > 0) this.set(wanted, taken.bucket);
    return taken;
  }

  /** Takes back requests that were taken and did not come. */
  giveBack(unused: TakeRequest, moment: ClockReading): void {
    const { bucket } = this.tryTake({ ...unused, want: 0 }, moment);
    this.set(unused, putBack(bucket, unused.rule, unused.want));
  }

  set({ kind, subject }: Pick<TakeRequest, "kind" | "subject">, bucket: Bucket): void {
    this.#buckets[kind].set(subject, bucket);
  }

  /** Takes over a bucket as Redis had it, no earlier than `asked`, and the time by the clock of Redis. */
  adopt(of: Pick<TakeRequest, "kind" | "subject">, theirs: Bucket, asked: ClockReading): void {
    this.#skewUs += theirs.atUs - asked.wallUs;
    const known = this.#buckets[of.kind].get(of.subject);
    // What has been learnt since it was asked stands.
    const used = known?.day === theirs.day ? Math.max(known.used, theirs.used) : theirs.used;
    this.set(of, { ...theirs, used, atUs: asked.nowUs });
  }

  /** Of keys alone: no other kind has a quota. */
  raiseUsage({ subject, day, used }: { subject: string; day: number; used: number }): void {
    const { nowUs } = this.readClocks();
    const known = this.#buckets.key.get(subject);
    if (known === undefined) this.#buckets.key.set(subject, { level: 0, atUs: nowUs, day, used });
    else if (known.day < day) this.#buckets.key.set(subject, { ...known, day, used });
    else if (known.day === day && known.used < used) this.#buckets.key.set(subject, { ...known, used });
  }
}
