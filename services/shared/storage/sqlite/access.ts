import { constants } from "node:fs";
import { access as tryAccess } from "node:fs/promises";
import { ConfigError } from "../../settings/env.ts";
import { describeSystemError, ensureWritableFolder } from "../../settings/folder.ts";
import type { Access } from "../port.ts";

/**
 * Whether a store's file is to be opened for writing. Throws ConfigError where a right is missing that this access needs,
 * and Error where the file is.
 */
export async function isWritable(
  path: string,
  { dataDir, access }: { readonly dataDir: string; readonly access: Access },
): Promise<boolean> {
  if (access !== "read") {
    const refusal = await whyNotWritable(path, dataDir);
    if (refusal === undefined) return true;
    // Without a file the missing right to make one is what the operator has to know.
    if (access === "write" || (await errorOf(path, constants.F_OK))?.code === "ENOENT") throw refusal;
  }
  const error = await errorOf(path, constants.R_OK);
  if (error?.code === "ENOENT") throw new Error(`Cannot read ${path}: there is no such file`);
  if (error !== undefined)
    throw new ConfigError([
      `Cannot read ${path}: ${describeSystemError(error)}. Whoever reads it needs read permission on it and on its log beside it (-wal, -shm).`,
    ]);
  return false;
}

async function whyNotWritable(path: string, dataDir: string): Promise<ConfigError | undefined> {
  try {
    // The log and its index are made beside the file.
    await ensureWritableFolder("DATA_DIR", dataDir);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  const error = await errorOf(path, constants.W_OK);
  if (error === undefined || error.code === "ENOENT") return undefined;
  return new ConfigError([`Cannot write ${path}: ${describeSystemError(error)}.`]);
}

function errorOf(path: string, mode: number): Promise<NodeJS.ErrnoException | undefined> {
  return tryAccess(path, mode).then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error,
  );
}
