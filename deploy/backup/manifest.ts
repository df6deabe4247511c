import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "../../services/shared/settings/folder.ts";

/** What a backup holds, written last: a folder without it is none. */
export interface Manifest {
  /** Of this file's form. */
  readonly format: 1;
  /** Whose stores these are; absent: SQLite. */
  readonly engine?: "mongodb";
  readonly version: string;
  readonly madeAt: string;
  readonly files: readonly BackupFile[];
}

export interface BackupFile {
  /** Below the folder. */
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** A backup or a folder that cannot be used, in words. */
export class BackupError extends Error {
  override readonly name = "BackupError";
}

export const MANIFEST = "backup.json";

/** Makes the folder that a backup goes to. Throws BackupError where it has something in it. */
export async function makeEmptyFolder(to: string): Promise<void> {
  await makeFolder(to);
  if ((await readdir(to)).length > 0) throw new BackupError(`Cannot back up to ${to}: it is not empty.`);
}

export async function writeManifest(
  folder: string,
  made: Pick<Manifest, "engine" | "version" | "files">,
): Promise<Manifest> {
  const { files, ...about } = made;
  const manifest: Manifest = { format: 1, ...about, madeAt: new Date().toISOString(), files };
  await writeFile(join(folder, MANIFEST), `${JSON.stringify(manifest, undefined, 2)}\n`);
  return manifest;
}

/** Throws BackupError for a folder that is no whole backup of this engine, or names a file that `isFile` does not know. */
export async function readManifest(
  from: string,
  { engine, isFile }: { readonly engine: "sqlite" | "mongodb"; readonly isFile: (name: string) => boolean },
): Promise<Manifest> {
  const text = await readFile(join(from, MANIFEST), "utf8").catch(() => {
    throw new BackupError(`${from} is no whole backup: it has no ${MANIFEST}.`);
  });
  const manifest = JSON.parse(text) as Manifest;
  if (manifest.format !== 1)
    throw new BackupError(`${from} was made by a newer version: its form is ${manifest.format}.`);
  const { engine: made = "sqlite" } = manifest;
  if (made !== engine)
    throw new BackupError(
      made === "mongodb"
        ? `${from} is a backup of MongoDB: set MONGODB_URL to restore it.`
        : `${from} is a backup of SQLite stores: take MONGODB_URL away to restore it into DATA_DIR.`,
    );
  for (const { name } of manifest.files)
    if (!isFile(name)) throw new BackupError(`${from} names ${JSON.stringify(name)}, which is no store.`);
  return manifest;
}

/** Throws BackupError for a file that has changed since. */
export async function requireUnchanged(from: string, file: BackupFile): Promise<void> {
  const found = await describeFile(from, file.name).catch(() => undefined);
  if (found?.sha256 !== file.sha256)
    throw new BackupError(`Cannot restore ${file.name}: it is not what was backed up (${file.sha256}).`);
}

export async function describeFile(folder: string, name: string): Promise<BackupFile> {
  const path = join(folder, name);
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return { name, bytes: (await stat(path)).size, sha256: hash.digest("hex") };
}
