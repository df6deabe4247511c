import type { MongoConnection } from "../../../services/shared/storage/mongodb/connection.ts";
import { BackupError } from "../manifest.ts";

/** Leases and checkpoints as they are: who writes changes one of them. */
type Seen = string;

const POLLS = 4;

/**
 * Watches the leases of a database for the time that a leader may be silent. Throws BackupError where one is renewed; else
 * what to compare with after the copy.
 */
export async function watchWriters(connection: MongoConnection, leaseTtlMs: number): Promise<Seen> {
  const first = await look(connection);
  // Nobody holds a lease that was released.
  if (first.isFree) return first.seen;
  for (let poll = 0; poll < POLLS; poll += 1) {
    await new Promise((resolve) => setTimeout(resolve, leaseTtlMs / POLLS));
    if ((await look(connection)).seen !== first.seen) throw running(connection.database);
  }
  return first.seen;
}

/** Throws BackupError where an ingest has begun to write since. */
export async function requireStill(connection: MongoConnection, before: Seen): Promise<void> {
  if ((await look(connection)).seen !== before) throw running(connection.database);
}

function running(database: string): BackupError {
  return new BackupError(
    `An ingest writes to ${database}, and a single server keeps no past states: stop the ingests for the time of the backup ` +
      "(services go on answering), or make the server a replica set of one member.",
  );
}

async function look(connection: MongoConnection): Promise<{ readonly seen: Seen; readonly isFree: boolean }> {
  const [leases, checkpoints] = await Promise.all(
    ["leases", "checkpoints"].map((name) =>
      connection.retryable((db) => db.collection(name).find().sort({ _id: 1 }).toArray()),
    ),
  );
  const isFree = (leases ?? []).every(({ expiresAtMs }) => Number(expiresAtMs) === 0);
  return { seen: JSON.stringify([leases, checkpoints]), isFree };
}
