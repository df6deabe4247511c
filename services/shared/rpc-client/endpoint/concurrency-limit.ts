export interface ConcurrencyLimit {
  /** Resolves with the function that releases the slot. */
  acquire(): Promise<() => void>;
  /** Halves the limit, after a rate limit of the endpoint. */
  decrease(): void;
  /** Counts a success: enough of them raise the limit by one, up to the maximum. */
  increase(): void;
  limit(): number;
}

/** Limits requests in flight, others wait in order; the limit adapts by additive increase and multiplicative decrease. */
export function createConcurrencyLimit(maxLimit: number): ConcurrencyLimit {
  let limit = maxLimit;
  let inFlight = 0;
  let successes = 0;
  const waiting: (() => void)[] = [];

  function startNext(): void {
    while (inFlight < limit) {
      const next = waiting.shift();
      if (next === undefined) return;
      inFlight += 1;
      next();
    }
  }

  function release(): void {
    inFlight -= 1;
    startNext();
  }

  return {
    acquire() {
      return new Promise((resolve) => {
        waiting.push(() => resolve(release));
        startNext();
      });
    },
    decrease() {
      limit = Math.max(1, Math.floor(limit / 2));
      successes = 0;
    },
    increase() {
      successes += 1;
      // Four successes per slot raise the limit: slow enough to stay below a rate limit for a while.
      if (limit >= maxLimit || successes < limit * 4) return;
      limit += 1;
      successes = 0;
      startNext();
    },
    limit: () => limit,
  };
}
