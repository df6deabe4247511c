import { validateLimits } from "../limits/rule.ts";

/** Limits that override the configured ones for one key; null = the configured one. */
export interface KeyLimitOverrides {
  readonly ratePerSecond: number | null;
  readonly burst: number | null;
  /** Requests a UTC day; 0 = no quota, whatever the configuration says. */
  readonly dailyQuota: number | null;
}

/** Settings of a key that are not columns: nothing is searched by them. */
export interface KeySettings {
  /** The client it belongs to; one client may have many live keys. */
  readonly owner: string | null;
  readonly note: string | null;
  readonly limits: KeyLimitOverrides;
  /** The key id that limits and quotas count by: the first one it was rotated from; null = its own. */
  readonly subject: string | null;
  /** The id of its successor. */
  readonly rotatedTo: string | null;
}

const NO_LIMIT_OVERRIDES: KeyLimitOverrides = { ratePerSecond: null, burst: null, dailyQuota: null };
export const NO_SETTINGS: KeySettings = {
  owner: null,
  note: null,
  limits: NO_LIMIT_OVERRIDES,
  subject: null,
  rotatedTo: null,
};

/** Parses settings stored by this or another version; invalid ones count as not set. */
export function parseKeySettings(stored: unknown): KeySettings {
  const fields: Record<string, unknown> = isObject(stored) ? stored : {};
  const limits: Record<string, unknown> = isObject(fields.limits) ? fields.limits : {};
  return {
    owner: toText(fields.owner),
    note: toText(fields.note),
    limits: {
      ratePerSecond: toLimit(limits.ratePerSecond, (ratePerSecond) => ({ ratePerSecond })),
      burst: toLimit(limits.burst, (burst) => ({ burst })),
      dailyQuota: limits.dailyQuota === 0 ? 0 : toLimit(limits.dailyQuota, (dailyQuota) => ({ dailyQuota })),
    },
    subject: toText(fields.subject),
    rotatedTo: toText(fields.rotatedTo),
  };
}

const VALID_LIMITS = { ratePerSecond: 1, burst: 1, dailyQuota: null };

function toLimit(value: unknown, place: (value: number) => Partial<Record<keyof KeyLimitOverrides, number>>) {
  if (typeof value !== "number") return null;
  return validateLimits({ ...VALID_LIMITS, ...place(value) }) === undefined ? value : null;
}

function toText(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
