import { createWriteStream } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip, gzipSync } from "node:zlib";
import type { ClientSession, Db, FindCursor } from "mongodb";
import { MongoConnection } from "../../../services/shared/storage/mongodb/connection.ts";
import { keepsSnapshots, snapshotFault } from "../../../services/shared/storage/mongodb/snapshot.ts";
import {
  BackupError,
  type BackupFile,
  describeFile,
  type Manifest,
  makeEmptyFolder,
  writeManifest,
} from "../manifest.ts";
import { DATABASES, listCollections } from "./layout.ts";
import { requireStill, watchWriters } from "./writers.ts";

interface DumpOptions {
  readonly to: string;
  readonly version: string;
  /** How long an ingest may be silent before it counts as stopped. */
  readonly leaseTtlMs: number;
}

/**
 * Copies the databases of the services, each as one state. A replica set or router keeps past states, and ingests go on: what
 * the copy has of a write in progress is what a killed ingest leaves, which the next start undoes. A single server keeps
 * none: there it refuses beside an ingest that runs.
 */
export async function dumpMongodb(url: string, options: DumpOptions): Promise<Manifest> {
  const { to, version } = options;
  await makeEmptyFolder(to);
  const files: BackupFile[] = [];
  for (const database of DATABASES) files.push(...(await dumpDatabase(url, { ...options, database })));
  if (files.length === 0) throw new BackupError("There is no database of chaintables at MONGODB_URL.");
  return writeManifest(to, { engine: "mongodb", version, files });
}

async function dumpDatabase(
  url: string,
  { database, leaseTtlMs, to }: DumpOptions & { readonly database: string },
): Promise<BackupFile[]> {
  const connection = await MongoConnection.create({ url, database });
  try {
    const names = await connection.retryable(listCollections);
    if (names.length === 0) return [];
    const folder = join(to, database);
    await mkdir(folder);
    const copyAll = async (session: ClientSession | undefined, db: Db) => {
      for (const name of names) await copyCollection(db, { name, folder, session });
    };
    const hasState = keepsSnapshots(await connection.admin({ hello: 1 }));
    if (!hasState || !(await copyState(connection, copyAll))) {
      const seen = await watchWriters(connection, leaseTtlMs);
      await connection.once((db) => copyAll(undefined, db));
      await requireStill(connection, seen);
    }
    const written = (await readdir(folder)).sort();
    return await Promise.all(written.map((name) => describeFile(to, `${database}/${name}`)));
  } finally {
    await connection.close();
  }
}

type CopyAll = (session: ClientSession, db: Db) => Promise<void>;

/** Returns false where the server keeps no past states after all. */
async function copyState(connection: MongoConnection, copyAll: CopyAll): Promise<boolean> {
  try {
    await connection.inSession(copyAll);
    return true;
  } catch (error) {
    const fault = snapshotFault(error);
    if (fault === "unsupported") return false;
    throw fault === "gone" ? tooLate(connection.database, error) : error;
  }
}

function tooLate(database: string, cause: unknown): BackupError {
  return new BackupError(
    `${database} takes longer to copy than the server keeps past states: raise minSnapshotHistoryWindowInSeconds ` +
      "(300 by default) for the time of the backup, or stop the ingests and take a snapshot of the volumes.",
    { cause },
  );
}

async function copyCollection(
  db: Db,
  { folder, name, session }: { name: string; folder: string; session: ClientSession | undefined },
): Promise<void> {
  const indexes = await db.collection(name).listIndexes().toArray();
  const metadata = JSON.stringify({ indexes, collectionName: name, type: "collection" });
  await writeFile(join(folder, `${name}.metadata.json.gz`), gzipSync(metadata));
  const options = { raw: true, batchSize: 1_000, ...(session !== undefined && { session }) };
  const documents = db.collection(name).find({}, options) as unknown as FindCursor<Buffer>;
  // Level 1: the disk, not the processor, should be what a copy waits for.
  await pipeline(documents, createGzip({ level: 1 }), createWriteStream(join(folder, `${name}.bson.gz`)));
}
