import type { SqliteOptions } from "../../shared/storage/sqlite/open-connection.ts";

/** How this service's file is opened, by all who may make it. */
export const SQLITE_FILE = {
  /**
   * A batch of a backfill changes 100 to 200 MB of pages, half of them again with the next batch: copying them after each cost a
   * tenth of the ingest's CPU, after two or three of them half of that.
   */
  logBytes: 2 ** 28,
  /** At the head each row lies on a page of its own: half as large, they are two fifths fewer bytes to write (decision 145). */
  pageBytes: 4_096,
} as const satisfies Partial<SqliteOptions>;
