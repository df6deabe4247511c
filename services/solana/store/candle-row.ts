import type { Store } from "../../shared/storage/port.ts";
import type { Candle } from "../metrics/candle.ts";
import { type ContestedCandle, type ContestName, settleCandle } from "../metrics/contested-candle.ts";
import { type CandleRow, priceVerdicts } from "./collections.ts";

type CandleFields = Omit<CandleRow, "mint" | "seconds" | "start" | "transactions">;
/** What `settleCandles` reads, and when the candle begins. */
export const SETTLED_FIELDS = [
  "start",
  "open",
  "high",
  "low",
  "close",
  "volumeUsd",
  "volumeToken",
  "trades",
  "ifRefused",
] as const;

/** Token and beginning of the contest, and the candle's numbers in the order of its fields; null without a trade. */
type StoredRefusal = readonly [string, number, readonly number[] | null];

/** Candles of a row's priced trades, in both readings. */
export function toContested(row: CandleFields): ContestedCandle {
  const { open, high, low, close, volumeUsd, volumeToken, trades } = row;
  const candle =
    open === null || high === null || low === null || close === null
      ? undefined
      : { open, high, low, close, volumeUsd, volumeToken, trades };
  if (row.ifRefused === null) return { candle, ifRefused: undefined };
  const [mint, since, numbers] = row.ifRefused as StoredRefusal;
  return { candle, ifRefused: { contest: { mint, since }, candle: numbers ? toCandle(numbers) : undefined } };
}

export function toCandleFields({ candle, ifRefused }: ContestedCandle): CandleFields {
  const refused: StoredRefusal | undefined = ifRefused && [
    ifRefused.contest.mint,
    ifRefused.contest.since,
    ifRefused.candle === undefined ? null : toNumbers(ifRefused.candle),
  ];
  return {
    open: candle?.open ?? null,
    high: candle?.high ?? null,
    low: candle?.low ?? null,
    close: candle?.close ?? null,
    volumeUsd: candle?.volumeUsd ?? 0,
    volumeToken: candle?.volumeToken ?? 0,
    trades: candle?.trades ?? 0,
    ifRefused: refused ?? null,
  };
}

/** The contest that a row waits for; undefined where none. */
export function contestOf({ ifRefused }: Pick<CandleRow, "ifRefused">): ContestName | undefined {
  if (ifRefused === null) return undefined;
  const [mint, since] = ifRefused as StoredRefusal;
  return { mint, since };
}

/** Stored candles as the contests ended that they waited for; undefined without a trade. In the order of the rows. */
export async function settleCandles(
  store: Store,
  rows: readonly CandleFields[],
): Promise<(Candle | undefined)[]> {
  const waiting = rows.flatMap((row) => contestOf(row) ?? []);
  const names = new Map(waiting.map((contest) => [nameOf(contest), contest]));
  const verdicts = names.size > 0 ? await store.getMany(priceVerdicts, [...names.values()]) : [];
  const isRefused = new Map(verdicts.map((verdict) => [nameOf(verdict), verdict.isRefused]));
  return rows.map(
    (row) => settleCandle(toContested(row), (contest) => isRefused.get(nameOf(contest))).candle,
  );
}

/** One text for each contest. */
export function nameOf({ mint, since }: ContestName): string {
  return `${mint} ${since}`;
}

function toCandle([open, high, low, close, volumeUsd, volumeToken, trades]: readonly number[]): Candle {
  return { open, high, low, close, volumeUsd, volumeToken, trades } as Candle;
}

function toNumbers({ open, high, low, close, volumeUsd, volumeToken, trades }: Candle): number[] {
  return [open, high, low, close, volumeUsd, volumeToken, trades];
}
