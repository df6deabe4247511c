import { collection, type RowOf } from "../../../services/shared/storage/port.ts";

/**
 * Requests by key, UTC day and endpoint. Each gateway process writes rows of its own, always its whole count: written
 * twice they say the same, and no two processes ever write one row, so that nothing has to be added up in the store.
 */
export const usageCollection = collection({
  name: "usage",
  fields: {
    /** What quotas count the key as (KeyRecord.subject). */
    subject: "text",
    /** Days since 1970. */
    day: "int",
    key: "text",
    /** The endpoint's path. */
    endpoint: "text",
    /** The process that counted, a name of its own at each start. */
    gateway: "text",
    /** Requests that were let pass, whatever came of them. */
    requests: "int",
    /** Requests that were refused with 429. */
    limited: "int",
    /** Of the last request, Unix seconds. */
    lastAt: "int",
  },
  key: ["subject", "day", "key", "endpoint", "gateway"],
  indexes: [{ fields: ["key", "day"], descending: ["day"] }, { fields: ["day"] }],
  shardKey: ["subject"],
});

export type UsageRow = RowOf<typeof usageCollection>;

export const DAY_MS = 86_400_000;

/** `2026-05-01` of days since 1970. */
export function toDate(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}
