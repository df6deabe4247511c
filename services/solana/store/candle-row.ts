import type { Candle } from "../metrics/candle.ts";
import type { CandleRow } from "./collections.ts";

/** What a stored candle tells of its priced trades; undefined without one. */
export function toCandle(row: Omit<CandleRow, "mint" | "seconds" | "start">): Candle | undefined {
  const { open, high, low, close, volumeUsd, volumeToken, trades } = row;
  if (open === null || high === null || low === null || close === null) return undefined;
  return { open, high, low, close, volumeUsd, volumeToken, trades };
}
