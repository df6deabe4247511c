import { LRUCache } from "lru-cache";
import type { Clock } from "../../request/clock.ts";
import { type Bucket, type ClockReading, type TakeResult, takeFromBucket } from "./bucket.ts";
import { LIMIT_KINDS, type LimitKind, type LimitRequest } from "./limiter.ts";

/** A request to take `count` requests out of a bucket; 0 only reads it. */
export interface TakeRequest extends LimitRequest {
  readonly count: number;
}

type BucketName = Pick<LimitRequest, "kind" | "subject">;

/** Per kind. A bucket takes some 250 bytes, so a flood from ever new addresses takes some 90 MB at worst. */
const MAX_PER_KIND = 50_000;

/**
 * The buckets of this process. Each kind has its own map, so a flood from many addresses cannot evict keys. Each map
 * evicts the bucket that took nothing for longest; that one starts empty again.
 */
export class LocalBuckets {
  readonly #clock: Clock;
  readonly #buckets: Readonly<Record<LimitKind, LRUCache<string, Bucket>>>;
  #skewUs = 0;

  constructor(clock: Clock, maxPerKind = MAX_PER_KIND) {
    this.#clock = clock;
    this.#buckets = Object.fromEntries(
      LIMIT_KINDS.map((kind) => [kind, new LRUCache<string, Bucket>({ max: maxPerKind })]),
    ) as Record<LimitKind, LRUCache<string, Bucket>>;
  }

  /** Buckets drain by the monotonic clock; days come from the wall clock, adjusted to that of Redis once it is known. */
  readClocks(): ClockReading {
    const nowUs = Math.floor(this.#clock.monotonicMs() * 1000);
    return { nowUs, wallUs: Math.floor(this.#clock.nowMs() * 1000) + this.#skewUs };
  }

  /** The result that taking would have, without changing the bucket. */
  tryTake({ kind, subject, rule, count }: TakeRequest, clocks: ClockReading): TakeResult {
    return takeFromBucket(this.#buckets[kind].peek(subject), clocks, { rule, count });
  }

  take(request: TakeRequest, clocks: ClockReading): TakeResult {
    const result = this.tryTake(request, clocks);
    if (result.granted > 0) this.#set(request, result.bucket);
    return result;
  }

  #set({ kind, subject }: BucketName, bucket: Bucket): void {
    this.#buckets[kind].set(subject, bucket);
  }

  /** Copies a shared bucket as it was no earlier than `sentAt`, and takes over the time of its store's clock. */
  adopt({ kind, subject }: BucketName, shared: Bucket, sentAt: ClockReading): void {
    this.#skewUs += shared.atUs - sentAt.wallUs;
    const known = this.#buckets[kind].peek(subject);
    // Usage that was raised since the request was sent stays.
    const used = known?.day === shared.day ? Math.max(known.used, shared.used) : shared.used;
    this.#set({ kind, subject }, { ...shared, used, atUs: sentAt.nowUs });
  }

  /** For keys only: no other kind has a quota. */
  raiseUsage({ subject, day, used }: { subject: string; day: number; used: number }): void {
    const { nowUs } = this.readClocks();
    const known = this.#buckets.key.get(subject);
    if (known === undefined) this.#buckets.key.set(subject, { level: 0, atUs: nowUs, day, used });
    else if (known.day < day) this.#buckets.key.set(subject, { ...known, day, used });
    else if (known.day === day && known.used < used) this.#buckets.key.set(subject, { ...known, used });
  }
}
