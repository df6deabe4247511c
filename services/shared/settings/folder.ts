import { randomUUID } from "node:crypto";
import { mkdir, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { ConfigError } from "./env.ts";

/**
 * Creates a folder with its parents. Not by mkdir's own `recursive`, which never returns when a parent exists and the
 * system still returns ENOENT, as in /proc (Node 20 to 24).
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
      // Another process creates the same one.
      if (error.code !== "EEXIST") throw error;
    });
  }
}

/** Throws if the path is not a folder. */
async function isFolder(path: string): Promise<boolean> {
  try {
    if ((await stat(path)).isDirectory()) return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
  throw Object.assign(new Error("not a folder"), { code: "ENOTDIR" });
}

/** Creates the folder that a setting names and checks that it is writable. Throws ConfigError in one sentence. */
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
  EEXIST: "the path is not a folder",
  ENOSPC: "no space is left on the device",
  EDQUOT: "the disk quota is used up",
  EISDIR: "it is a folder",
  EADDRINUSE: "the port is in use",
  EADDRNOTAVAIL: "this machine does not have that address",
};

/** The words for a system error code. */
export function describeSystemError({ code, message }: NodeJS.ErrnoException): string {
  return REASONS[code ?? ""] ?? message;
}
