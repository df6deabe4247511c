import type { Bucket } from "./bucket.ts";
import type { Wanted } from "./local-buckets.ts";

/** What is asked of whoever keeps the buckets of several gateways. */
export interface BucketQuestion extends Wanted {
  /** More of them for requests that will come within a lease, where nobody could miss them. 0 = none. */
  readonly ahead: number;
  /** What was granted ahead before and not used: taken back first. */
  readonly unused: number;
  /** The bucket as far as it is known here, drained to now: a keeper that has lost it goes on from there. */
  readonly known: Pick<Bucket, "level" | "day" | "used">;
}

export interface BucketAnswer {
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
export interface BucketKeeper {
  /** One answer a question, in order; undefined = it cannot be asked for now. Never rejects. */
  ask(questions: readonly BucketQuestion[]): Promise<readonly BucketAnswer[] | undefined>;
  /** Takes back what was granted ahead and not used. A keeper without it is not asked for anything ahead. */
  giveBack?(wanted: readonly Wanted[]): void;
  /** Hears what the store tells of a day's requests, where questions do not say it (`known`). */
  learn?(of: Learnt): void;
}
