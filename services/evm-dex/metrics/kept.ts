import { DAY, HOUR, MINUTE, type Span } from "./bucket.ts";

/**
 * For how many seconds buckets are kept, where rows are removed at all (EVM_RAW_DAYS). The bucket of a pool that is the
 * last one before that stays: closes are carried over from it. deploy/doctor/estimate.ts reckons with the same days.
 */
export const KEPT_SECONDS: Readonly<Record<Span, number>> = {
  [MINUTE]: 40 * DAY,
  [HOUR]: 400 * DAY,
  [DAY]: Number.POSITIVE_INFINITY,
};

/** As KEPT_SECONDS for the TVL of hours: a month of candles; longer ranges are of days. */
export const KEPT_TVL_HOURS_SECONDS = 40 * DAY;
