import {
  type CandleRange,
  candleStart,
  firstCandle,
  INTERVAL_SECONDS,
} from "../../../shared/contract/candle-params.ts";
import type { Pacer } from "../../../shared/service/pacer.ts";
import type { Store } from "../../../shared/storage/port.ts";
import { type Candle, joinCandles } from "../../metrics/candle.ts";
import { SETTLED_FIELDS, settleCandles } from "../../store/candle-row.ts";
import { CANDLE_SECONDS, candles } from "../../store/collections.ts";

/** Stored candles read at once. */
const CANDLES_PER_READ = 2_000;

export interface TimedCandle {
  /** Unix seconds. */
  readonly start: number;
  readonly candle: Candle;
}

/**
 * Candles of a token that begin in the range, and not before `coveredFrom` (Unix seconds), oldest first; those without
 * a priced trade are left out. Each is whole, also beyond the end of the range: one that begins before the first indexed
 * block would be partial. Joined from the coarsest stored candles that fit.
 */
export async function readCandles(
  store: Store,
  query: { mint: string; range: CandleRange; coveredFrom: number; pacer: Pacer },
): Promise<TimedCandle[]> {
  const { mint, pacer } = query;
  const { interval, after_time, before_time } = query.range;
  const start = firstCandle(Math.max(after_time, query.coveredFrom), interval);
  const end = firstCandle(before_time, interval);
  const seconds = findCoarsest(INTERVAL_SECONDS[interval]);
  const parts = new Map<number, Candle[]>();
  for await (const { start: stored, candle } of readStored(store, { mint, seconds, start, end, pacer })) {
    const at = candleStart(stored, interval);
    const known = parts.get(at);
    if (known === undefined) parts.set(at, [candle]);
    else known.push(candle);
  }
  return [...parts].map(([at, found]) => ({ start: at, candle: joinCandles(found) as Candle }));
}

/** The longest stored candle that divides the interval. */
function findCoarsest(intervalSeconds: number): number {
  return Math.max(...CANDLE_SECONDS.filter((seconds) => intervalSeconds % seconds === 0));
}

/** Stored candles that start in [start, end), oldest first, as contests about prices ended. */
async function* readStored(
  store: Store,
  query: { mint: string; seconds: number; start: number; end: number; pacer: Pacer },
): AsyncGenerator<TimedCandle> {
  const { mint, seconds, end } = query;
  for (let from = query.start; from < end; ) {
    const rows = await store.find(candles, {
      filter: { mint, seconds, start: { gte: from, lt: end } },
      order: [{ field: "start", direction: "asc" }],
      limit: CANDLES_PER_READ,
      fields: SETTLED_FIELDS,
    });
    const settled = await settleCandles(store, rows);
    for (const [i, row] of rows.entries()) {
      const candle = settled[i];
      if (candle !== undefined) yield { start: row.start, candle };
    }
    const last = rows[CANDLES_PER_READ - 1];
    if (last === undefined) return;
    from = last.start + seconds;
    await query.pacer.step();
  }
}
