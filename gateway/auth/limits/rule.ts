import type { LimitSettings } from "../../config.ts";

/** Limits as bucket.ts computes with them: whole numbers only, so that TypeScript and Lua cannot differ. */
export interface LimitRule extends LimitSettings {
  /** Units that a bucket loses per microsecond; a request costs COST units. */
  readonly drain: number;
  /** Units a bucket holds. */
  readonly capacity: number;
  /** The header RateLimit-Policy of every response under this rule. */
  readonly policy: string;
  /** Name of the burst policy, as the headers quote it. */
  readonly burstName: string;
}

/** Units of one request. With rates in thousandths per second, a bucket drains a whole number of units per microsecond. */
export const COST = 1_000_000_000;
export const MAX_RATE = 1_000_000;
/** COST times this stays below 2^53. */
export const MAX_BURST = 1_000_000;
const MAX_QUOTA = 1_000_000_000_000;
const DAY_SECONDS = 86_400;

/** Returns what is wrong with limits, in words; undefined if they are valid. */
export function validateLimits({ ratePerSecond, burst, dailyQuota }: LimitSettings): string | undefined {
  const thousandths = ratePerSecond * 1000;
  if (!(ratePerSecond >= 0.001 && ratePerSecond <= MAX_RATE && isNearlyWhole(thousandths)))
    return `a rate is 0.001 to ${MAX_RATE} requests a second with at most three decimals, got ${ratePerSecond}`;
  if (!isCount(burst, MAX_BURST)) return `a burst is a whole number from 1 to ${MAX_BURST}, got ${burst}`;
  if (dailyQuota !== null && !isCount(dailyQuota, MAX_QUOTA))
    return `a daily quota is a whole number from 1 to ${MAX_QUOTA}, got ${dailyQuota}`;
  return undefined;
}

/**
 * Creates the rule of limits; headers call its burst `name`. Throws RangeError for invalid limits.
 * Headers describe limits by quota and window, which no bucket matches exactly: the window here is burst/rate seconds, in
 * which an empty bucket fills.
 */
export function createRule(settings: LimitSettings, name = "burst"): LimitRule {
  const fault = validateLimits(settings);
  if (fault !== undefined) throw new RangeError(`Cannot make a limit: ${fault}`);
  const { ratePerSecond, burst, dailyQuota } = settings;
  const window = Math.max(1, Math.ceil(burst / ratePerSecond));
  const daily = dailyQuota === null ? "" : `, "daily";q=${dailyQuota};w=${DAY_SECONDS}`;
  return {
    ratePerSecond,
    burst,
    dailyQuota,
    drain: Math.round(ratePerSecond * 1000),
    capacity: burst * COST,
    policy: `"${name}";q=${burst};w=${window}${daily}`,
    burstName: name,
  };
}

function isCount(value: number, max: number): boolean {
  return Number.isSafeInteger(value) && value >= 1 && value <= max;
}

function isNearlyWhole(value: number): boolean {
  return Math.abs(value - Math.round(value)) < 1e-6;
}
