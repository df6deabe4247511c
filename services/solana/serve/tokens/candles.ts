import {
  type CandleRange,
  candleStart,
  firstCandle,
  INTERVAL_SECONDS,
} from "../../../shared/contract/candle-params.ts";
import type { Pacer } from "../../../shared/service/pacer.ts";
import type { Store } from "../../../shared/storage/port.ts";
import { type Candle, joinCandles } from "../../metrics/candle.ts";
import { toCandle } from "../../store/candle-row.ts";
import { CANDLE_SECONDS, type CandleRow, candles } from "../../store/collections.ts";

/** Stored candles read at once. */
const CANDLES_PER_READ = 2_000;

const FIELDS = [
  "start",
  "open",
  "high",
  "low",
  "close",
  "volumeUsd",
  "volumeToken",
  "trades",
  "transactions",
] as const;
type StoredCandle = Pick<CandleRow, (typeof FIELDS)[number]>;

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
  for await (const row of readStored(store, { mint, seconds, start, end, pacer })) {
    const candle = toCandle(row);
    if (candle === undefined) continue;
    const at = candleStart(row.start, interval);
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

/** Stored candles that start in [start, end), oldest first. */
async function* readStored(
  store: Store,
  query: { mint: string; seconds: number; start: number; end: number; pacer: Pacer },
): AsyncGenerator<StoredCandle> {
  const { mint, seconds, end } = query;
  for (let from = query.start; from < end; ) {
    const rows = await store.find(candles, {
      filter: { mint, seconds, start: { gte: from, lt: end } },
      order: [{ field: "start", direction: "asc" }],
      limit: CANDLES_PER_READ,
      fields: FIELDS,
    });
    yield* rows;
    const last = rows[CANDLES_PER_READ - 1];
    if (last === undefined) return;
    from = last.start + seconds;
    await query.pacer.step();
  }
}
