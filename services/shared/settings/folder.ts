import { randomUUID } from "node:crypto";
import { mkdir, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { ConfigError } from "./env.ts";

/**
 * Makes a folder with its parents. Not by mkdir's own `recursive`, which never returns where a parent exists and the
 * system still says ENOENT, as it does in /proc (Node 20 to 24).
 */
export async function makeFolder(path: string): Promise<void> {
  const missing: string[] = [];
  let at = resolve(path);
  while (!(await isFolder(at))) {
    missing.unshift(at);
    at = dirname(at);
  }
  for (const folder of missing) {
    await mkdir(folder).catch((error: NodeJS.ErrnoException) => {
      // Another process makes the same one.
      if (error.code !== "EEXIST") throw error;
    });
  }
}

/** Throws where something else than a folder is there. */
async function isFolder(path: string): Promise<boolean> {
  try {
    if ((await stat(path)).isDirectory()) return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
  throw Object.assign(new Error("not a folder"), { code: "ENOTDIR" });
}

/** Makes the folder that a setting names and shows that it can be written. Throws ConfigError in one sentence. */
export async function ensureWritableFolder(setting: string, path: string): Promise<void> {
  const probe = join(path, `.writable-${randomUUID()}`);
  try {
    await makeFolder(path);
    await writeFile(probe, "");
    await rm(probe);
  } catch (error) {
    throw new ConfigError([
      `Cannot use ${setting}=${path}: ${describeSystemError(error as NodeJS.ErrnoException)}.`,
    ]);
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENOENT: "the folder cannot be made there",
  ENOTDIR: "a part of the path is not a folder",
  EEXIST: "something else than a folder is there",
  ENOSPC: "no space is left on the device",
  EDQUOT: "the disk quota is used up",
  EISDIR: "it is a folder",
  EADDRINUSE: "the port is in use",
  EADDRNOTAVAIL: "this machine does not have that address",
};

/** A system's error in words. */
export function describeSystemError({ code, message }: NodeJS.ErrnoException): string {
  return REASONS[code ?? ""] ?? message;
}
