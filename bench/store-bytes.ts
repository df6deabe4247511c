import { statSync } from "node:fs";
import { openDatabase } from "../services/shared/storage/sqlite/driver.ts";

/** Bytes of a SQLite file by collection, with its indexes; `free` = pages without content. */
export interface StoreBytes {
  readonly total: number;
  readonly byCollection: Readonly<Record<string, number>>;
}

/** Reads every page of the file: some seconds a gigabyte. Nobody may write meanwhile. */
export async function readStoreBytes(path: string): Promise<StoreBytes> {
  const database = await openDatabase(path);
  try {
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    const rows = database
      .prepare(
        "SELECT coalesce(m.tbl_name, s.name) AS name, sum(s.pgsize) AS bytes " +
          "FROM dbstat AS s LEFT JOIN sqlite_schema AS m ON m.name = s.name WHERE s.aggregate = TRUE GROUP BY 1",
      )
      .all() as { name: string; bytes: number }[];
    return {
      total: statSync(path).size,
      byCollection: Object.fromEntries(
        rows.sort((a, b) => b.bytes - a.bytes).map((row) => [row.name, row.bytes]),
      ),
    };
  } finally {
    database.close();
  }
}
