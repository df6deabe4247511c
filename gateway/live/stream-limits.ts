import { ServiceError } from "../../services/shared/errors.ts";

export interface StreamLimits {
  /** Streams of this process at most; 0 = none are served. */
  readonly maxStreams: number;
  /** Streams of one key, and of those that were rotated into it, in this process. */
  readonly maxStreamsPerKey: number;
}

const RETRY_AFTER_SECONDS = 10;

/** Counts open streams. A place is taken before the first table is asked for, or a burst would pass the limit. */
export class StreamPlaces {
  readonly #limits: StreamLimits;
  readonly #bySubject = new Map<string, number>();
  #count = 0;

  constructor(limits: StreamLimits) {
    this.#limits = limits;
  }

  get count(): number {
    return this.#count;
  }

  /** Returns what gives the place back. Throws `rate_limited` where there is none. */
  take(subject: string): () => void {
    const { maxStreams, maxStreamsPerKey } = this.#limits;
    if (maxStreams === 0) throw new ServiceError("bad_request", "Live streams are off at this gateway.");
    const own = this.#bySubject.get(subject) ?? 0;
    if (own >= maxStreamsPerKey) throw refuse(`live streams with this key: the limit is ${maxStreamsPerKey}`);
    if (this.#count >= maxStreams) throw refuse(`live streams at this gateway: the limit is ${maxStreams}`);
    this.#count += 1;
    this.#bySubject.set(subject, own + 1);
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      this.#count -= 1;
      const left = (this.#bySubject.get(subject) ?? 1) - 1;
      if (left === 0) this.#bySubject.delete(subject);
      else this.#bySubject.set(subject, left);
    };
  }
}

function refuse(what: string): ServiceError {
  return new ServiceError("rate_limited", `Too many ${what}. Close one, or try again later.`, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
