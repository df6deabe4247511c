import { openDatabase, readPragma } from "./driver.ts";

/** Less free space than this is left for reuse. */
const WORTH_BYTES = 2 ** 20;

/**
 * Returns the space of deleted rows to the file system (MongoDB reuses its own); returns the number of bytes. Throws while
 * another process writes: then SQLite reuses the space. Needs free disk space for the remaining rows.
 */
export async function vacuumSqlite(path: string): Promise<number> {
  const { statSync } = await import("node:fs");
  const db = await openDatabase(path, 5_000);
  try {
    if (readPragma(db, "freelist_count") * readPragma(db, "page_size") < WORTH_BYTES) return 0;
    const before = statSync(path).size;
    db.exec("VACUUM");
    // The write-ahead log holds the new file until it is copied over.
    db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    return Math.max(0, before - statSync(path).size);
  } finally {
    db.close();
  }
}
