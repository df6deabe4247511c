import { copyFile, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "../../services/shared/settings/folder.ts";
import { allRows, openDatabase, prepare } from "../../services/shared/storage/sqlite/driver.ts";
import {
  BackupError,
  type BackupFile,
  describeFile,
  type Manifest,
  makeEmptyFolder,
  readManifest,
  requireUnchanged,
  writeManifest,
} from "./manifest.ts";

/** For another process's lock. */
const WAIT_MS = 30_000;

const STORE = /^[a-z][a-z0-9-]*\.sqlite$/;

/**
 * Copies every store of a folder while it is in use. Each copy is one state of its store, with what its write-ahead log
 * held: checkpoint and rows belong together. Stores follow each other within the time of the copying.
 */
export async function backUp(
  dataDir: string,
  { to, version }: { readonly to: string; readonly version: string },
): Promise<Manifest> {
  const names = await listStores(dataDir);
  if (names.length === 0) throw new BackupError(`There is no store in ${dataDir}.`);
  await makeEmptyFolder(to);
  const files: BackupFile[] = [];
  for (const name of names) {
    const db = await openDatabase(join(dataDir, name), WAIT_MS);
    try {
      // Reads one snapshot; a writer is not held up.
      db.prepare("VACUUM INTO ?").run(join(to, name));
    } finally {
      db.close();
    }
    await requireWhole(join(to, name));
    files.push(await describeFile(to, name));
  }
  return writeManifest(to, { version, files });
}

/** Puts the stores of a backup into a folder that has none, after it has looked at each byte. */
export async function restore(dataDir: string, { from }: { readonly from: string }): Promise<Manifest> {
  const manifest = await readManifest(from, { engine: "sqlite", isFile: (name) => STORE.test(name) });
  for (const file of manifest.files) {
    await requireUnchanged(from, file);
    await requireWhole(join(from, file.name));
  }
  await makeFolder(dataDir);
  const present = await listStores(dataDir);
  if (present.length > 0)
    throw new BackupError(
      `Cannot restore into ${dataDir}: it has ${present.join(", ")}. Move them away; nothing is overwritten.`,
    );
  for (const { name } of manifest.files) {
    const path = join(dataDir, name);
    // What an earlier store of that name has left.
    for (const end of ["-wal", "-shm"]) await rm(`${path}${end}`, { force: true });
    await copyFile(join(from, name), `${path}.part`);
    await rename(`${path}.part`, path);
  }
  return manifest;
}

export async function listStores(dataDir: string): Promise<string[]> {
  const names = await readdir(dataDir).catch(() => []);
  return names.filter((name) => STORE.test(name)).sort();
}

/** Every page, index and constraint of a file; throws what is wrong with it. */
export async function requireWhole(path: string): Promise<void> {
  let said: string;
  try {
    const db = await openDatabase(path, WAIT_MS);
    try {
      said = allRows(prepare(db, "PRAGMA quick_check(5)"), [])
        .map(([line]) => line)
        .join("; ");
    } finally {
      db.close();
    }
  } catch (error) {
    said = error instanceof Error ? error.message : String(error);
  }
  if (said !== "ok") throw new BackupError(`${path} is damaged: ${said}`);
}
