import type { Db } from "mongodb";
import type { StoreSize } from "../port.ts";

/** Of a database; what is free where the server says what its disk holds: routers and compatible servers do not. */
export async function readSize(db: Db): Promise<StoreSize> {
  const stats: Readonly<Record<string, number | undefined>> = await db.command({ dbStats: 1 });
  const { storageSize = 0, indexSize = 0, fsTotalSize, fsUsedSize } = stats;
  const freeBytes =
    fsTotalSize === undefined || fsUsedSize === undefined ? undefined : fsTotalSize - fsUsedSize;
  return { storedBytes: Number(storageSize) + Number(indexSize), freeBytes };
}
