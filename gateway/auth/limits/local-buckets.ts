import { LRUCache } from "lru-cache";
import type { Clock } from "../../request/clock.ts";
import { type Bucket, type ClockReading, type TakeResult, takeFromBucket } from "./bucket.ts";
import type { LimitKind, LimitRequest } from "./limiter.ts";

/** A request to take `count` requests out of a bucket; 0 only reads it. */
export interface TakeRequest extends LimitRequest {
  readonly count: number;
}

/** A whole literal: every request makes one (docs/decisions/0084). */
export function asking({ kind, subject, rule }: LimitRequest, count: number): TakeRequest {
  return { kind, subject, rule, count };
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
  readonly #maxPerKind: number;
  readonly #buckets: Partial<Record<LimitKind, LRUCache<string, Bucket>>> = {};
  #skewUs = 0;

  constructor(clock: Clock, maxPerKind = MAX_PER_KIND) {
    this.#clock = clock;
    this.#maxPerKind = maxPerKind;
  }

  /** Buckets drain by the monotonic clock; days come from the wall clock, adjusted to that of Redis once it is known. */
  readClocks(): ClockReading {
    const nowUs = Math.floor(this.#clock.monotonicMs() * 1000);
    return { nowUs, wallUs: Math.floor(this.#clock.nowMs() * 1000) + this.#skewUs };
  }

  /** The result that taking would have, without changing the bucket. */
  tryTake({ kind, subject, rule, count }: TakeRequest, clocks: ClockReading): TakeResult {
    return takeFromBucket(this.#buckets[kind]?.peek(subject), clocks, { rule, count });
  }

  take(request: TakeRequest, clocks: ClockReading): TakeResult {
    const result = this.tryTake(request, clocks);
    if (result.granted > 0) this.#set(request, result.bucket);
    return result;
  }

  #set({ kind, subject }: BucketName, bucket: Bucket): void {
    let buckets = this.#buckets[kind];
    if (buckets === undefined) {
      // Made by need: it takes a megabyte and some milliseconds for all it may ever hold.
      buckets = new LRUCache<string, Bucket>({ max: this.#maxPerKind });
      this.#buckets[kind] = buckets;
    }
    buckets.set(subject, bucket);
  }

  /** Copies a shared bucket as it was no earlier than `sentAt`, and takes over the time of its store's clock. */
  adopt({ kind, subject }: BucketName, shared: Bucket, sentAt: ClockReading): void {
    this.#skewUs += shared.atUs - sentAt.wallUs;
    const known = this.#buckets[kind]?.peek(subject);
    // Usage that was raised since the request was sent stays.
    const used = known?.day === shared.day ? Math.max(known.used, shared.used) : shared.used;
    this.#set({ kind, subject }, { ...shared, used, atUs: sentAt.nowUs });
  }

  /** For keys only: no other kind has a quota. */
  raiseUsage({ subject, day, used }: { subject: string; day: number; used: number }): void {
    const { nowUs } = this.readClocks();
    const name = { kind: "key", subject } as const;
    const known = this.#buckets.key?.get(subject);
    if (known === undefined) this.#set(name, { level: 0, atUs: nowUs, day, used });
    else if (known.day < day) this.#set(name, { ...known, day, used });
    else if (known.day === day && known.used < used) this.#set(name, { ...known, used });
  }
}
