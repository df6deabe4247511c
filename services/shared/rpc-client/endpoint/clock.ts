/** Time and randomness of a source; tests inject their own. */
export interface Clock {
  /** Milliseconds; only differences matter. */
  now(): number;
  /** Wall clock in milliseconds, for dates in Retry-After. */
  wallNow(): number;
  /** Resolves after the time or when the signal aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** In [0, 1). */
  random(): number;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  wallNow: () => Date.now(),
  sleep(ms, signal) {
    return new Promise((resolve) => {
      if (signal?.aborted === true) return resolve();
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, Math.max(0, ms));
      signal?.addEventListener("abort", done, { once: true });
    });
  },
  random: () => Math.random(),
};
