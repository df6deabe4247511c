import type { Store } from "../../../shared/storage/port.ts";
import { SETTLED_FIELDS, settleCandles } from "../../store/candle-row.ts";
import { candles } from "../../store/collections.ts";
import { traders } from "../../store/token-collections.ts";

const MINUTE = 60;
const HOUR = 3_600;
const DAY = 86_400;
/** Days of the volatility. */
const CLOSES = 30;

export interface DayActivity {
  readonly transactions: number;
  readonly accounts: number;
}

interface Of {
  readonly mint: string;
  /** Unix seconds of the head. */
  readonly time: number;
  /** Unix seconds from which on everything is indexed. */
  readonly coveredFrom: number;
}

/** Transactions of a token and their distinct signers, in the 24 hours that end with the head's minute; exact to the minute. Undefined unless all are indexed. */
export async function readDayActivity(store: Store, query: Of): Promise<DayActivity | undefined> {
  const { mint, time } = query;
  const start = time - (time % MINUTE) + MINUTE - DAY;
  if (start < query.coveredFrom) return undefined;
  const firstHour = Math.ceil(start / HOUR) * HOUR;
  const minutes = { mint, seconds: MINUTE, start: { gte: start, lt: firstHour } };
  const hours = { mint, seconds: HOUR, start: { gte: firstHour } };
  const [early, late, accounts] = await Promise.all([
    store.sum(candles, minutes, ["transactions"]),
    store.sum(candles, hours, ["transactions"]),
    store.count(traders, { mint, lastTime: { gte: start } }, { via: ["mint", "lastTime"] }),
  ]);
  return { transactions: early.transactions + late.transactions, accounts };
}

/** Closes of the 30 completed UTC days before the head's, null for days without a trade; undefined unless all are indexed. */
export async function readDailyCloses(store: Store, query: Of): Promise<(number | null)[] | undefined> {
  const { mint, time } = query;
  const end = time - (time % DAY);
  const start = end - CLOSES * DAY;
  if (start < query.coveredFrom) return undefined;
  const rows = await store.find(candles, {
    filter: { mint, seconds: DAY, start: { gte: start, lt: end } },
    fields: SETTLED_FIELDS,
  });
  const settled = await settleCandles(store, rows);
  const closes = new Map(rows.map(({ start }, i) => [start, settled[i]?.close ?? null]));
  return Array.from({ length: CLOSES }, (_, day) => closes.get(start + day * DAY) ?? null);
}
