import type { Family } from "../../services/shared/contract/endpoint.ts";
import { FAMILIES, isFamily } from "../auth/keys/key-record.ts";
import { validateLimits } from "../auth/limits/rule.ts";

/** Invalid arguments; the caller shows the message and the usage, and exits with 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Parses one line of text without blanks at its ends. */
export function parseLine(option: string, text: string, minLength: number): string {
  const line = text.trim();
  if (line.length < minLength || line.length > 100 || /\p{Cc}/u.test(line))
    throw new UsageError(`${option} takes ${minLength} to 100 characters on one line.`);
  return line;
}

export function parseScopes(text: string): readonly Family[] {
  const names = text.split(",").map((name) => name.trim());
  const scopes = names.filter(isFamily);
  const wrong = names.find((name) => !isFamily(name));
  if (wrong !== undefined)
    throw new UsageError(`--scopes takes ${FAMILIES.join(", ")}, got ${JSON.stringify(wrong)}.`);
  return [...new Set(scopes)];
}

/** Parses `30d` or `12h` to seconds; `min` is in days or hours. */
export function parseDuration(option: string, text: string, min: 0 | 1): number {
  const [, digits, unit] = /^(0|[1-9]\d{0,4})([dh])$/.exec(text) ?? [];
  if (digits === undefined || Number(digits) < min)
    throw new UsageError(`${option} takes days or hours such as 30d or 12h, got ${JSON.stringify(text)}.`);
  return Number(digits) * (unit === "d" ? 86_400 : 3_600);
}

export function parseCount(option: string, text: string, max: number): number {
  const count = Number(text);
  if (!/^\d{1,15}$/.test(text) || count < 1 || count > max)
    throw new UsageError(`${option} takes a number from 1 to ${max}, got ${JSON.stringify(text)}.`);
  return count;
}

/** Parses a rate or a burst; null for `default`. */
export function parseLimit(option: string, text: string, field: "ratePerSecond" | "burst"): number | null {
  if (text === "default") return null;
  return parseNumber(option, text, (value) => ({ [field]: value }));
}

/** Parses a quota; 0 for `none`, null for `default`. */
export function parseQuota(option: string, text: string): number | null {
  if (text === "default") return null;
  if (text === "none") return 0;
  return parseNumber(option, text, (dailyQuota) => ({ dailyQuota }));
}

function parseNumber(
  option: string,
  text: string,
  toLimits: (value: number) => Record<string, number>,
): number {
  const value = /^\d{1,15}(\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
  const fault = validateLimits({ ratePerSecond: 1, burst: 1, dailyQuota: null, ...toLimits(value) });
  if (fault !== undefined)
    throw new UsageError(`Cannot read ${option} ${JSON.stringify(text)}: ${fault.replace(/, got .*$/, "")}.`);
  return value;
}
