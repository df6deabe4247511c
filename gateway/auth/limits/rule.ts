/** What a holder may ask for. */
export interface LimitSettings {
  /** Requests a second in the long run, 0.001 to 1,000,000, at most three decimals. */
  readonly ratePerSecond: number;
  /** Requests at once, 1 to 1,000,000. */
  readonly burst: number;
  /** Requests a UTC day; null = no quota. */
  readonly dailyQuota: number | null;
}

/** Limits ready for the arithmetic of bucket.ts: whole numbers only, so that TypeScript and Lua cannot differ. */
export interface LimitRule extends LimitSettings {
  /** Units that a bucket loses a microsecond; a request costs COST of them. */
  readonly drain: number;
  /** Units a bucket holds. */
  readonly capacity: number;
  /** The header RateLimit-Policy of every answer under this rule. */
  readonly policy: string;
  /** Names of its policies, as the headers quote them. */
  readonly burstName: string;
}

/** Units of one request. With rates in thousandths a second, draining is a whole number of units a microsecond. */
export const COST = 1_000_000_000;
export const MAX_RATE = 1_000_000;
/** COST times this stays below 2^53. */
export const MAX_BURST = 1_000_000;
export const MAX_QUOTA = 1_000_000_000_000;
const DAY_SECONDS = 86_400;

/** What is wrong with limits, in words; undefined where nothing is. */
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
 * The rule of some limits; `name` is what headers call the burst. Throws RangeError as faultOfLimits says.
 * A window of burst/rate seconds, in which an empty bucket fills, describes a bucket in the headers' terms of quota and
 * window; no pair of them is exactly what a bucket lets pass.
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
