import { meanAndDeviation } from "../../shared/pricing/deviation.ts";

/**
 * Volatility of a price over a window, from the closes of its buckets (last close carried over empty ones).
 * Both are percent and null with fewer than 3 closes.
 */
export interface Volatility {
  /** 100 × sample standard deviation of the log returns between consecutive closes. Not annualised. */
  readonly priceVolatilityPct: number | null;
  /** 100 × sample standard deviation of the closes / their mean (coefficient of variation). */
  readonly meanAdjustedVolatilityPct: number | null;
}

const UNKNOWN: Volatility = { priceVolatilityPct: null, meanAdjustedVolatilityPct: null };

export function volatilityOf(closes: readonly number[]): Volatility {
  if (closes.length < 3 || closes.some((close) => !(close > 0) || !Number.isFinite(close))) return UNKNOWN;
  const returns: number[] = [];
  for (let i = 1; i < closes.length; i++)
    returns.push(Math.log((closes[i] as number) / (closes[i - 1] as number)));
  const ofReturns = meanAndDeviation(returns);
  // In units of the first close: squares of what tokens with 255 decimals cost leave the range of a float.
  const ofCloses = meanAndDeviation(closes.map((close) => close / (closes[0] as number)));
  return {
    priceVolatilityPct: 100 * ofReturns.deviation,
    meanAdjustedVolatilityPct: (100 * ofCloses.deviation) / ofCloses.mean,
  };
}
