/** Backups beside each other in one folder, each named by the time at which it was begun. */
import { mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "../../services/shared/settings/folder.ts";
import { BackupError, MANIFEST, type Manifest } from "./manifest.ts";

/** Sorts by time; without colons, which some disks refuse. Other folders are left alone. */
const NAME = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ$/;
/** A copy writes all the time: one without a manifest that has rested for so long was killed. */
const ABANDONED_MS = 3_600_000;

interface DatedOptions {
  /** How many whole ones stay, the new one among them; at least 1, all if undefined. */
  readonly keep: number | undefined;
  /** Copies to an empty folder, the manifest last. */
  readonly make: (to: string) => Promise<Manifest>;
  /** Unix milliseconds; injected by tests. */
  readonly nowMs?: number;
}

interface Dated {
  readonly folder: string;
  readonly manifest: Manifest;
  /** Folders that are gone. */
  readonly removed: readonly string[];
}

/**
 * Makes a backup in a new folder, and removes the oldest ones only then: where it fails, all that were there stay. What
 * counts is whole: damaged ones are no reason to remove another. What a killed run has left goes before, since it
 * may fill the disk. Throws what `make` throws, and BackupError where two begin within a second.
 */
export async function backUpDated(into: string, options: DatedOptions): Promise<Dated> {
  const { keep, make, nowMs = Date.now() } = options;
  await makeFolder(into);
  const abandoned = await removeAll(into, await listAbandoned(into, nowMs));
  const name = nameOf(nowMs);
  const folder = join(into, name);
  await mkdir(folder).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "EEXIST"
      ? new BackupError(`Cannot back up to ${folder}: it is there already.`)
      : error;
  });
  const manifest = await make(folder).catch(async (error: unknown) => {
    await rm(folder, { recursive: true, force: true });
    throw error;
  });
  const old = keep === undefined ? [] : await listOld(into, { keep, made: name });
  return { folder, manifest, removed: [...abandoned, ...(await removeAll(into, old))] };
}

function nameOf(ms: number): string {
  return new Date(ms)
    .toISOString()
    .replace(/\.\d+Z$/, "Z")
    .replaceAll(":", "-");
}

/** Of the finished ones, all that are older than the newest `keep` whole ones: none while there are fewer. */
async function listOld(into: string, { keep, made }: { keep: number; made: string }): Promise<string[]> {
  const { finished } = await look(into);
  const others = finished.filter((name) => name !== made).reverse();
  let whole = 1;
  for (const [at, name] of others.entries()) {
    if (whole === keep) return others.slice(at);
    if (await isWhole(join(into, name))) whole += 1;
  }
  return [];
}

async function listAbandoned(into: string, nowMs: number): Promise<string[]> {
  const abandoned: string[] = [];
  for (const name of (await look(into)).unfinished)
    if (nowMs - (await lastChange(join(into, name))) > ABANDONED_MS) abandoned.push(name);
  return abandoned;
}

/** The oldest first. */
async function look(into: string): Promise<{ finished: string[]; unfinished: string[] }> {
  const finished: string[] = [];
  const unfinished: string[] = [];
  for (const entry of await readdir(into, { withFileTypes: true })) {
    if (!entry.isDirectory() || !NAME.test(entry.name)) continue;
    const isFinished = (await readdir(join(into, entry.name))).includes(MANIFEST);
    (isFinished ? finished : unfinished).push(entry.name);
  }
  return { finished: finished.sort(), unfinished: unfinished.sort() };
}

async function lastChange(folder: string): Promise<number> {
  const paths = await readdir(folder, { recursive: true });
  const changed = await Promise.all(["", ...paths].map((path) => stat(join(folder, path))));
  return Math.max(...changed.map(({ mtimeMs }) => mtimeMs));
}

/** Whether its manifest can be read and each file has its size: hashes would read all backups every night. */
async function isWhole(folder: string): Promise<boolean> {
  try {
    const { files } = JSON.parse(await readFile(join(folder, MANIFEST), "utf8")) as Manifest;
    for (const { name, bytes } of files) if ((await stat(join(folder, name))).size !== bytes) return false;
    return files.length > 0;
  } catch {
    return false;
  }
}

async function removeAll(into: string, names: readonly string[]): Promise<string[]> {
  const folders = names.map((name) => join(into, name));
  // The manifest first: what is left of a removal that was cut short is no backup.
  for (const folder of folders)
    for (const path of [join(folder, MANIFEST), folder]) await rm(path, { recursive: true, force: true });
  return folders;
}
