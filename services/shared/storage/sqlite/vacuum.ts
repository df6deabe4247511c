/** Less free space than this is left for reuse. */
const WORTH_BYTES = 2 ** 20;

/**
 * Returns the space of deleted rows to the file system (MongoDB reuses its own); returns the number of bytes. Throws while
 * another process writes: then SQLite reuses the space. Needs free disk space for the remaining rows.
 */
export async function vacuumSqlite(path: string): Promise<number> {
  const { default: Database } = await import("libsql");
  const { statSync } = await import("node:fs");
  const db = new Database(path, { timeout: 5_000 });
  const read = (pragma: string) => (db.prepare(`PRAGMA ${pragma}`).raw().all() as number[][])[0]?.[0] ?? 0;
  try {
    if (read("freelist_count") * read("page_size") < WORTH_BYTES) return 0;
    const before = statSync(path).size;
    db.exec("VACUUM");
    // The write-ahead log holds the new file until it is copied over.
    db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").raw().all();
    return Math.max(0, before - statSync(path).size);
  } finally {
    db.close();
  }
}
