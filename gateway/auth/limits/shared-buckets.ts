import type { Bucket } from "./bucket.ts";
import type { TakeRequest } from "./local-buckets.ts";

/** What is asked of whoever keeps the buckets of several gateways. */
export interface BucketRequest extends TakeRequest {
  /** More of them for requests that will come within a lease, where nobody could miss them. 0 = none. */
  readonly ahead: number;
  /** What was granted ahead before and not used: taken back first. */
  readonly unused: number;
  /** The bucket as far as it is known here, drained to now: a keeper that has lost it goes on from there. */
  readonly known: Pick<Bucket, "level" | "day" | "used">;
}

export interface BucketResponse {
  /** Of what was wanted, and then of what was asked for ahead. */
  readonly granted: number;
  /** After it; `atUs` is Unix time by the clock of its keeper. */
  readonly bucket: Bucket;
}

/** Requests that a subject is known to have had passed on a day. */
export interface Learnt {
  readonly subject: string;
  readonly day: number;
  readonly used: number;
}

/** Who keeps the buckets that several gateways share. */
export interface SharedBuckets {
  /** One answer a question, in order; undefined = it cannot be asked for now. Never rejects. */
  take(questions: readonly BucketRequest[]): Promise<readonly BucketResponse[] | undefined>;
  /** Takes back what was granted ahead and not used. A keeper without it is not asked for anything ahead. */
  giveBack?(wanted: readonly TakeRequest[]): void;
  /** Hears what the store tells of a day's requests, where questions do not say it (`known`). */
  learn?(of: Learnt): void;
}
