import { join } from "node:path";
import { SQLITE_FILE } from "../../services/evm-dex/store/sqlite-file.ts";
import type { Store } from "../../services/shared/storage/port.ts";

export type BenchEngine = "sqlite" | "mongodb";

/** A store for a bench: a file in a folder, or a database of the server in MONGODB_URL. */
export async function openBenchStore(
  engine: BenchEngine,
  { dir, database }: { dir: string; database: string },
): Promise<Store> {
  if (engine === "sqlite") {
    const { openSqliteStore } = await import("../../services/shared/storage/sqlite/store.ts");
    return openSqliteStore({ path: join(dir, "evm-dex.sqlite"), ...SQLITE_FILE, mappedBytes: 2 ** 30 });
  }
  const { openMongoStore } = await import("../../services/shared/storage/mongodb/store.ts");
  return openMongoStore({ url: process.env.MONGODB_URL ?? "", database });
}

/** Deletes what a bench left in MongoDB. */
export async function dropBenchDatabase(database: string): Promise<void> {
  const { MongoClient } = await import("mongodb");
  const client = new MongoClient(process.env.MONGODB_URL ?? "");
  await client.db(database).dropDatabase();
  await client.close();
}
