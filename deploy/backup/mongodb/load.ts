import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createGunzip, gunzipSync } from "node:zlib";
import { BSON, type Db, type Document, type IndexDescription } from "mongodb";
import { MongoConnection } from "../../../services/shared/storage/mongodb/connection.ts";
import { BackupError, type Manifest, readManifest, requireUnchanged } from "../manifest.ts";
import { compareForWriting, FILE, listCollections } from "./layout.ts";

/** Documents in one insert: some MB at most. */
const DOCUMENTS = 1_000;

/** Puts databases back that are not there, after it has looked at each byte. */
export async function loadMongodb(url: string, { from }: { readonly from: string }): Promise<Manifest> {
  const manifest = await readManifest(from, { engine: "mongodb", isFile: (name) => FILE.test(name) });
  for (const file of manifest.files) await requireUnchanged(from, file);
  const databases = new Map<string, string[]>();
  for (const { name } of manifest.files) {
    const [, database = "", collection = "", kind] = FILE.exec(name) ?? [];
    if (kind === "bson") databases.set(database, [...(databases.get(database) ?? []), collection]);
  }
  for (const database of databases.keys()) await inDatabase(url, database, requireEmpty);
  for (const [database, collections] of databases)
    await inDatabase(url, database, async (db) => {
      for (const name of collections.sort(compareForWriting))
        await loadCollection(db, { name, folder: join(from, database) });
    });
  return manifest;
}

async function inDatabase(url: string, database: string, work: (db: Db) => Promise<void>): Promise<void> {
  const connection = await MongoConnection.create({ url, database });
  try {
    await connection.once(work);
  } finally {
    await connection.close();
  }
}

async function requireEmpty(db: Db): Promise<void> {
  const names = await listCollections(db);
  if (names.length > 0)
    throw new BackupError(
      `Cannot restore into ${db.databaseName}: it has ${names.length} collections. Drop it or move it away; nothing is overwritten.`,
    );
}

async function loadCollection(db: Db, { folder, name }: { name: string; folder: string }): Promise<void> {
  const target = db.collection(name);
  const metadata = JSON.parse(
    gunzipSync(await readFile(join(folder, `${name}.metadata.json.gz`))).toString(),
  );
  const indexes = (metadata.indexes as IndexDescription[]).filter(({ name }) => name !== "_id_");
  // Before the rows, as the services make them; an empty collection is made by it, too.
  if (indexes.length > 0) await target.createIndexes(indexes.map(toIndex));
  else await db.createCollection(name).catch(ignoreExisting);
  let batch: Document[] = [];
  const insert = async () => {
    if (batch.length > 0) await target.insertMany(batch, { ordered: false });
    batch = [];
  };
  for await (const document of documentsOf(join(folder, `${name}.bson.gz`))) {
    batch.push(document);
    if (batch.length === DOCUMENTS) await insert();
  }
  await insert();
}

function toIndex({ key, name, unique }: IndexDescription): IndexDescription {
  return { key, ...(name !== undefined && { name }), ...(unique === true && { unique }) };
}

/** Another replica's name for it may differ between servers; what matters is that it is there. */
function ignoreExisting(error: { code?: unknown }): void {
  if (error.code !== 48) throw error;
}

/** Numbers keep their types: an integer that was stored as such stays one. */
async function* documentsOf(path: string): AsyncGenerator<Document> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of createReadStream(path).pipe(createGunzip())) {
    rest = rest.length === 0 ? (chunk as Buffer) : Buffer.concat([rest, chunk as Buffer]);
    let at = 0;
    while (rest.length - at >= 4 && rest.length - at >= rest.readInt32LE(at)) {
      const end = at + rest.readInt32LE(at);
      yield BSON.deserialize(rest.subarray(at, end), { promoteValues: false });
      at = end;
    }
    rest = rest.subarray(at);
  }
  if (rest.length > 0) throw new BackupError(`${path} ends in the middle of a document.`);
}
