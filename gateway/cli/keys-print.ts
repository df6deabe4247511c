import { type KeyRecord, keyStateAt } from "../auth/keys/key-record.ts";
import type { KeyLimitOverrides } from "../auth/keys/key-settings.ts";
import { formatTable } from "./text-table.ts";

/** A key as shown to an operator. */
export interface ShownKey {
  readonly record: KeyRecord;
  /** Unix seconds. */
  readonly lastUsedAt?: number | undefined;
}

export function keysTable(keys: readonly ShownKey[], nowSeconds: number): string {
  const rows = keys.map(({ record, lastUsedAt }) => [
    record.id,
    record.label,
    keyStateAt(record, nowSeconds),
    record.scopes.join(","),
    record.owner ?? "",
    limitsText(record.limits),
    toMinute(record.createdAt),
    record.expiresAt === null ? "never" : toMinute(record.expiresAt),
    record.revokedAt === null ? "" : toMinute(record.revokedAt),
    lastUsedAt === undefined ? "" : toMinute(lastUsedAt),
  ]);
  return formatTable(
    ["ID", "LABEL", "STATE", "SCOPES", "OWNER", "LIMITS", "CREATED", "EXPIRES", "REVOKED", "LAST USED"],
    rows,
  );
}

/** The JSON form: times as ISO 8601, the state, and no hash. */
export function keyJson({ record, lastUsedAt }: ShownKey, nowSeconds: number) {
  const { hash: _hash, ...known } = record;
  const iso = (seconds: number | null | undefined) =>
    seconds === null || seconds === undefined ? null : new Date(seconds * 1000).toISOString();
  return {
    ...known,
    state: keyStateAt(record, nowSeconds),
    createdAt: iso(record.createdAt),
    expiresAt: iso(record.expiresAt),
    revokedAt: iso(record.revokedAt),
    suspendedAt: iso(record.suspendedAt),
    lastUsedAt: iso(lastUsedAt),
  };
}

export function toJsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Shown once: the key is stored nowhere. */
export function keyText(key: string): string {
  return `\nThe key, shown only now:\n\n  ${key}\n\nSend it in the header X-API-KEY.\n`;
}

export function toMinute(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ")}Z`;
}

/** The overrides of a key's limits; the rest is the gateway's default. */
function limitsText({ ratePerSecond, burst, dailyQuota }: KeyLimitOverrides): string {
  const parts = [
    ...(ratePerSecond === null ? [] : [`${ratePerSecond}/s`]),
    ...(burst === null ? [] : [`burst ${burst}`]),
    ...(dailyQuota === null ? [] : [dailyQuota === 0 ? "no quota" : `${dailyQuota}/day`]),
  ];
  return parts.length === 0 ? "default" : parts.join(" ");
}
