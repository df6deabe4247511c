import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { copyFile, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "../../services/shared/settings/folder.ts";

/** What a backup holds, written last: a folder without it is none. */
export interface Manifest {
  /** Of this file's form. */
  readonly format: 1;
  readonly version: string;
  readonly madeAt: string;
  readonly files: readonly BackupFile[];
}

export interface BackupFile {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

const MANIFEST = "backup.json";
const STORE = /^[a-z][a-z0-9-]*\.sqlite$/;

/** A backup or a folder that cannot be used, in words. */
export class BackupError extends Error {
  override readonly name = "BackupError";
}

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
  await makeFolder(to);
  if ((await readdir(to)).length > 0) throw new BackupError(`Cannot back up to ${to}: it is not empty.`);
  const { default: Database } = await import("libsql");
  const files: BackupFile[] = [];
  for (const name of names) {
    const db = new Database(join(dataDir, name), { timeout: 30_000 });
    try {
      // Reads one snapshot; a writer is not held up.
      db.prepare("VACUUM INTO ?").run(join(to, name));
    } finally {
      db.close();
    }
    await requireWhole(join(to, name));
    files.push(await describe(to, name));
  }
  const manifest: Manifest = { format: 1, version, madeAt: new Date().toISOString(), files };
  await writeFile(join(to, MANIFEST), `${JSON.stringify(manifest, undefined, 2)}\n`);
  return manifest;
}

/** Puts the stores of a backup into a folder that has none, after it has looked at each byte. */
export async function restore(dataDir: string, { from }: { readonly from: string }): Promise<Manifest> {
  const manifest = await readManifest(from);
  for (const file of manifest.files) {
    const found = await describe(from, file.name).catch(() => undefined);
    if (found?.sha256 !== file.sha256)
      throw new BackupError(`Cannot restore ${file.name}: it is not what was backed up (${file.sha256}).`);
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
  const { default: Database } = await import("libsql");
  let said: string;
  try {
    const db = new Database(path, { timeout: 30_000 });
    try {
      said = (db.prepare("PRAGMA quick_check(5)").raw().all() as string[][]).map(([line]) => line).join("; ");
    } finally {
      db.close();
    }
  } catch (error) {
    said = error instanceof Error ? error.message : String(error);
  }
  if (said !== "ok") throw new BackupError(`${path} is damaged: ${said}`);
}

async function readManifest(from: string): Promise<Manifest> {
  const text = await readFile(join(from, MANIFEST), "utf8").catch(() => {
    throw new BackupError(`${from} is no whole backup: it has no ${MANIFEST}.`);
  });
  const manifest = JSON.parse(text) as Manifest;
  if (manifest.format !== 1)
    throw new BackupError(`${from} was made by a newer version: its form is ${manifest.format}.`);
  for (const { name } of manifest.files)
    if (!STORE.test(name)) throw new BackupError(`${from} names ${JSON.stringify(name)}, which is no store.`);
  return manifest;
}

async function describe(folder: string, name: string): Promise<BackupFile> {
  const path = join(folder, name);
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return { name, bytes: (await stat(path)).size, sha256: hash.digest("hex") };
}
