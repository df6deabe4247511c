import type { StoreSize } from "../port.ts";
import { MEMORY } from "./open-connection.ts";

/** A file with its write-ahead log, and what is left on its disk. */
export async function sizeOfFile(path: string): Promise<StoreSize> {
  if (path === MEMORY) return { storedBytes: 0, freeBytes: undefined };
  const { stat, statfs } = await import("node:fs/promises");
  const [file, log, disk] = await Promise.all([
    stat(path),
    stat(`${path}-wal`).catch(() => undefined),
    statfs(path),
  ]);
  return { storedBytes: file.size + (log?.size ?? 0), freeBytes: disk.bavail * disk.bsize };
}
