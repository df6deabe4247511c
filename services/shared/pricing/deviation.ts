/** Welford's one-pass mean and sample standard deviation (n − 1): stable where values barely differ. */
export function meanAndDeviation(values: readonly number[]): { mean: number; deviation: number } {
  let mean = 0;
  let squares = 0;
  let count = 0;
  for (const value of values) {
    count += 1;
    const delta = value - mean;
    mean += delta / count;
    squares += delta * (value - mean);
  }
  return { mean, deviation: Math.sqrt(squares / (count - 1)) };
}
