import type { Candle } from "../metrics/candle.ts";
import type { CandleRow } from "./collections.ts";

/** The candle of a row's priced trades; undefined without any. */
export function toCandle(row: Omit<CandleRow, "mint" | "seconds" | "start">): Candle | undefined {
  const { open, high, low, close, volumeUsd, volumeToken, trades } = row;
  if (open === null || high === null || low === null || close === null) return undefined;
  return { open, high, low, close, volumeUsd, volumeToken, trades };
}
