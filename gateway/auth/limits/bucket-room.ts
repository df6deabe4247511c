import { roomOf } from "./bucket.ts";
import type { LocalBuckets, TakeRequest } from "./local-buckets.ts";
import type { BucketRequest, BucketResponse, Learnt } from "./shared-buckets.ts";

/**
 * What a bucket must have room for besides what it lets go ahead. No machine's workers pass on so many until a lease's
 * rest is given back (40 ms), so that who asks meanwhile cannot be refused for what another has and does not use.
 */
const ROOM_LEFT = 10_000;

/** Keeps the buckets of a gateway's workers: what Redis does for several gateways, in their parent process. */
export class BucketRoom {
  readonly #buckets: LocalBuckets;

  constructor(buckets: LocalBuckets) {
    this.#buckets = buckets;
  }

  answer(questions: readonly BucketRequest[]): BucketResponse[] {
    return questions.map((question) => this.#decide(question));
  }

  giveBack(unused: readonly TakeRequest[]): void {
    const moment = this.#buckets.readClocks();
    for (const wanted of unused) this.#buckets.giveBack(wanted, moment);
  }

  learn(of: Learnt): void {
    this.#buckets.raiseUsage(of);
  }

  /** What a worker knows of the bucket came from here, but for what it has given back since: it is not looked at. */
  #decide({ ahead, unused, known: _known, ...wanted }: BucketRequest): BucketResponse {
    const { rule } = wanted;
    const moment = this.#buckets.readClocks();
    if (unused > 0) this.#buckets.giveBack({ ...wanted, want: unused }, moment);
    let taken = this.#buckets.take(wanted, moment);
    let { granted } = taken;
    if (ahead > 0 && roomOf(taken.bucket, rule) >= ahead + ROOM_LEFT) {
      taken = this.#buckets.take({ ...wanted, want: ahead }, moment);
      granted += taken.granted;
    }
    return { granted, bucket: { ...taken.bucket, atUs: moment.wallUs } };
  }
}
