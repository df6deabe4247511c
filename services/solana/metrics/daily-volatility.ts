import { meanAndDeviation } from "../../shared/pricing/deviation.ts";

/**
 * Sample standard deviation of the log returns between consecutive daily closes (USD), not annualised. Null for fewer
 * than 3 closes.
 * @param closes one for each day, the oldest first; null for a day without a trade, which keeps the close before it
 */
export function dailyVolatility(closes: readonly (number | null)[]): number | null {
  const kept: number[] = [];
  for (const close of closes) {
    const last = kept[kept.length - 1];
    if (close !== null) kept.push(close);
    else if (last !== undefined) kept.push(last);
  }
  if (kept.length < 3 || kept.some((close) => !(close > 0))) return null;
  const returns = kept.slice(1).map((close, i) => Math.log(close / (kept[i] as number)));
  const { deviation } = meanAndDeviation(returns);
  return Number.isFinite(deviation) ? deviation : null;
}
