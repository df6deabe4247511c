import type { Traders } from "./traders.ts";

const HOUR_S = 3_600;
const DAY_S = 86_400;

/** How long before now the devnet's first block lies: past windows of a day and a week are then covered whole. */
export const HISTORY_S = 8 * DAY_S;

/**
 * Times of a made-up past in (fromS, toS), ascending: sparse at first, every few minutes in the last day, every minute
 * in the last hour, so that each window from an hour to a week has trades. At most about 350 whatever the length.
 */
export function historyTimes(fromS: number, toS: number): number[] {
  const parts: readonly { startS: number; endS: number; stepS: number }[] = [
    { startS: Math.max(fromS, toS - HISTORY_S), endS: toS - DAY_S, stepS: HOUR_S },
    { startS: Math.max(fromS, toS - DAY_S), endS: toS - HOUR_S, stepS: 600 },
    { startS: Math.max(fromS, toS - HOUR_S), endS: toS, stepS: 60 },
  ];
  return parts.flatMap(({ startS, endS, stepS }) => {
    const count = Math.max(0, Math.ceil((endS - startS) / stepS) - 1);
    // Not on round minutes: buckets should see all kinds of seconds.
    return Array.from(
      { length: count },
      (_, i) => startS + (i + 1) * stepS - ((i * 37) % Math.min(stepS, 59)),
    );
  });
}

/** Trades the past in one go, with jumped timestamps. Answers the number of blocks. */
export async function tradeHistory(traders: Traders, range: { fromS: number; toS: number }): Promise<number> {
  const times = historyTimes(range.fromS, range.toS).filter((time) => time > range.fromS);
  for (const timestamp of times) await traders.tradeBlock({ timestamp, swaps: 5 });
  return times.length;
}
