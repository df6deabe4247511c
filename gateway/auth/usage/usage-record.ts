import { collection, type RowOf } from "../../../services/shared/storage/collection.ts";

/**
 * Requests by key, UTC day and endpoint. Each gateway process writes its own rows with whole counts: writing twice is
 * idempotent, and no two processes write the same row, so the store never has to add.
 */
export const usageCollection = collection({
  name: "usage",
  fields: {
    /** The name that quotas count by (KeyRecord.subject). */
    subject: "text",
    /** Days since 1970. */
    day: "int",
    key: "text",
    /** The endpoint's path. */
    endpoint: "text",
    /** The process that counted; a new random name at each start. */
    gateway: "text",
    /** Requests that passed the limits, whatever their outcome. */
    requests: "int",
    /** Requests that were refused with 429. */
    limited: "int",
    /** Time of the last request, Unix seconds. */
    lastAt: "int",
  },
  key: ["subject", "day", "key", "endpoint", "gateway"],
  indexes: [{ fields: ["key", "day"], descending: ["day"] }, { fields: ["day"] }],
  shardKey: ["subject"],
});

export type UsageRow = RowOf<typeof usageCollection>;

export const DAY_MS = 86_400_000;

/** `2026-05-01` from days since 1970. */
export function toDate(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}
