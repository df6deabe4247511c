/** Less than this is left to be used again. */
const WORTH_BYTES = 2 ** 20;

/**
 * Gives the space of deleted rows back to the file system; returns how many bytes that were. Throws where another
 * process is writing. Needs room beside the file for what is left in it.
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
