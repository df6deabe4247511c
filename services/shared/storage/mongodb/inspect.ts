import type { Db } from "mongodb";
import type { StoreInspection, TableSize } from "../inspection.ts";
import { databaseOf } from "../open.ts";
import { MongoConnection } from "./connection.ts";
import { readDeclarations } from "./declare.ts";

/** See inspectStore. A database without a declaration is none of ours. */
export async function inspectMongo({
  service,
  url,
}: {
  readonly service: string;
  readonly url: string;
}): Promise<StoreInspection | undefined> {
  const database = databaseOf(service);
  const connection = await MongoConnection.create({ url, database });
  try {
    const declarations = await connection.retryable(readDeclarations);
    if (declarations.size === 0) return undefined;
    const tables = await connection.retryable(sizesOf);
    const storedBytes = tables.reduce((sum, { bytes, indexBytes }) => sum + bytes + indexBytes, 0);
    const size = { storedBytes, freeBytes: undefined };
    return { place: `MongoDB database ${database}`, declarations, size, tables, pageFaults: undefined };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`Cannot read the MongoDB database ${database}: ${why}`, { cause });
  } finally {
    await connection.close();
  }
}

async function sizesOf(db: Db): Promise<TableSize[]> {
  const names = (await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name);
  const sizes = await Promise.all(
    names.map(async (name): Promise<TableSize> => {
      const { count, storageSize, totalIndexSize } = await db.command({ collStats: name });
      return {
        name,
        rows: Number(count ?? 0),
        bytes: Number(storageSize ?? 0),
        indexBytes: Number(totalIndexSize ?? 0),
      };
    }),
  );
  return sizes.sort((a, b) => b.bytes + b.indexBytes - (a.bytes + a.indexBytes));
}
