import type { Bucket } from "./bucket.ts";
import type { LocalBuckets, TakeRequest } from "./local-buckets.ts";

/** A request to buckets that several processes share. */
export interface BucketRequest extends TakeRequest {
  /** The bucket as far as the requesting process knows it, drained to now: a store that lost it continues from there. */
  readonly known: Pick<Bucket, "level" | "day" | "used">;
}

export interface BucketResponse {
  /** How many of the requested `count` may pass. */
  readonly granted: number;
  /** The bucket afterwards; `atUs` is Unix time by the clock of the process that stores it. */
  readonly bucket: Bucket;
}

/** Requests of a subject that passed on a UTC day, as far as the usage store knows. */
export interface DailyUsage {
  readonly subject: string;
  /** Days since 1970. */
  readonly day: number;
  readonly used: number;
}

/** Buckets that several processes share: in Redis, or in the parent process of one gateway's workers. */
export interface SharedBuckets {
  /** One response per request, in order; undefined while they are unreachable. Never rejects. */
  take(requests: readonly BucketRequest[]): Promise<readonly BucketResponse[] | undefined>;
  /** Needed only where `take` ignores `known`. */
  raiseUsage?(usage: DailyUsage): void;
}

/** Decides for the workers of one gateway, in their parent process. What a worker knows of a bucket came from here. */
export function takeForWorkers(
  buckets: LocalBuckets,
  requests: readonly BucketRequest[],
): readonly BucketResponse[] {
  return requests.map((request) => {
    const clocks = buckets.readClocks();
    const { granted, bucket } = buckets.take(request, clocks);
    return { granted, bucket: { ...bucket, atUs: clocks.wallUs } };
  });
}
