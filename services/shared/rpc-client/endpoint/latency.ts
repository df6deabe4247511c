const SAMPLES = 64;
const MIN_SAMPLES = 16;

export interface Latency {
  add(key: string, ms: number): void;
  /** The 95th percentile of the recent requests with this key; undefined until there are enough of them. */
  p95(key: string): number | undefined;
  /** Exponential moving average over all keys, for the order of endpoints; undefined before the first request. */
  smoothedMs(): number | undefined;
}

/** Recent latencies by kind of request: those of a head and of a thousand blocks of logs are not comparable. */
export function createLatency(): Latency {
  const rings = new Map<string, { values: number[]; next: number }>();
  let smoothed: number | undefined;
  return {
    add(key, ms) {
      smoothed = smoothed === undefined ? ms : smoothed * 0.9 + ms * 0.1;
      const ring = rings.get(key) ?? { values: [], next: 0 };
      ring.values[ring.next] = ms;
      ring.next = (ring.next + 1) % SAMPLES;
      rings.set(key, ring);
    },
    p95(key) {
      const values = rings.get(key)?.values;
      if (values === undefined || values.length < MIN_SAMPLES) return undefined;
      const sorted = values.slice().sort((a, b) => a - b);
      return sorted[Math.ceil(sorted.length * 0.95) - 1];
    },
    smoothedMs: () => smoothed,
  };
}
