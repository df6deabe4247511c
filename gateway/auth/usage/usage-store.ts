import { put, removeWhere, type Store } from "../../../services/shared/storage/port.ts";
import { type UsageRow, usageCollection } from "./usage-record.ts";

export interface UsageStore {
  /** Writes whole counts; idempotent. */
  save(rows: readonly UsageRow[]): Promise<void>;
  /** Requests of a subject that passed on a day, as far as gateways have written them. */
  countPassed(subject: string, day: number): Promise<number>;
  /** A key's rows from a day on. */
  findByKey(key: string, fromDay: number): Promise<UsageRow[]>;
  /** The sums of a key's requests from a day on. */
  sumTotals(key: string, fromDay: number): Promise<{ requests: number; limited: number }>;
  /** When a key was last used, Unix seconds; undefined if it has no usage. */
  findLastUse(key: string): Promise<number | undefined>;
  /** Deletes older usage. */
  removeBefore(day: number): Promise<void>;
}

/** Rows per write: few, so that other writers of an embedded database do not wait long. */
const WRITE_BATCH = 500;

/** Opens usage in any store; declares the collection. */
export async function openUsageStore(store: Store): Promise<UsageStore> {
  await store.declare([usageCollection]);
  return {
    async save(rows) {
      for (let from = 0; from < rows.length; from += WRITE_BATCH)
        await store.write([put(usageCollection, rows.slice(from, from + WRITE_BATCH))]);
    },
    async countPassed(subject, day) {
      return (await store.sum(usageCollection, { subject, day }, ["requests"])).requests;
    },
    findByKey: (key, fromDay) => store.find(usageCollection, { filter: { key, day: { gte: fromDay } } }),
    sumTotals: (key, fromDay) =>
      store.sum(usageCollection, { key, day: { gte: fromDay } }, ["requests", "limited"]),
    async findLastUse(key) {
      const [last] = await store.find(usageCollection, {
        filter: { key },
        order: [{ field: "day", direction: "desc" }],
        limit: 1,
      });
      if (last === undefined) return undefined;
      const rows = await store.find(usageCollection, {
        filter: { key, day: last.day },
        fields: ["lastAt"],
      });
      return rows.reduce((latest, { lastAt }) => Math.max(latest, lastAt), last.lastAt);
    },
    // SQLite uses the index only with both bounds; with one it scans the table.
    removeBefore: (day) => store.write([removeWhere(usageCollection, { day: { gte: 0, lt: day } })]),
  };
}
