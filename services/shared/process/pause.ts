/** Resolves after the time, or as soon as the signal aborts; never rejects. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done, { once: true });
    function done() {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
  });
}

/** Resolves when the work is done or the time is over; rejects as the work does before that. */
export async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const settled = new AbortController();
  try {
    await Promise.race([work, pause(ms, settled.signal)]);
  } finally {
    settled.abort();
  }
}
