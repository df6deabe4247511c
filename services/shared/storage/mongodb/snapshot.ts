/**
 * Reads of one state. Steps of a write are no transaction, so a moment during one is of no state. After the last step
 * the writer therefore stores the cluster's time; a reader takes all its reads at that time, whatever is written
 * meanwhile. The server keeps such times for minSnapshotHistoryWindowInSeconds (300 s).
 */
import type { ClientSession, Db, Timestamp } from "mongodb";
import { StoreAwayError } from "../port.ts";
import type { MongoConnection } from "./connection.ts";
import { isTransient } from "./retry.ts";

/** Beside the declared collections; few documents, so not sharded. */
const TIMES = "_snapshots";

interface SnapshotTime {
  readonly _id: string;
  readonly time: Timestamp;
}

/** Whether a server keeps past states: members of replica sets and routers, since 5.0. */
export function keepsSnapshots(hello: Readonly<Record<string, unknown>>): boolean {
  const isMember = typeof hello.setName === "string" || hello.msg === "isdbgrid";
  return (
    isMember && typeof hello.logicalSessionTimeoutMinutes === "number" && Number(hello.maxWireVersion) >= 13
  );
}

/** Stores the time at which a write is complete. */
async function recordSnapshot(connection: MongoConnection, id: string): Promise<void> {
  await connection.retryable((db) =>
    db
      .collection<SnapshotTime>(TIMES)
      // By the server, and in one step: its time is later than the steps before, and earlier than the next write.
      .updateOne({ _id: id }, [{ $set: { time: "$$CLUSTER_TIME" } }], { upsert: true }),
  );
}

/**
 * Records snapshots. A compatible server that says it is a replica set may not know the cluster's time: then there are
 * none, and the writes go on without.
 */
export function recorderOf(connection: MongoConnection): (id: string) => Promise<void> {
  let isKnown: boolean | undefined;
  return async (id) => {
    if (isKnown === false) return;
    try {
      await recordSnapshot(connection, id);
      isKnown = true;
    } catch (error) {
      // Once it has been recorded, a time that stays behind would be served.
      if (isKnown || (error as { name?: unknown }).name !== "MongoServerError") throw error;
      isKnown = false;
    }
  };
}

/** Too long ago; not there yet on this shard; moved to another shard meanwhile. Another attempt has another time. */
const GONE_CODES: ReadonlySet<unknown> = new Set([239, 246]);
/** No such reads on this server after all: another engine than WiredTiger, or a compatible server. */
const UNSUPPORTED_CODES: ReadonlySet<unknown> = new Set([20, 72, 115, 123]);
const ATTEMPTS = 3;

/**
 * Runs reads at the end of the last complete write; undefined where no write has ended yet, or its time is no longer
 * kept because nothing has been written for so long: then a plain read sees one state too.
 */
export async function readSnapshot<T>(
  connection: MongoConnection,
  {
    id,
    signal,
    read,
  }: {
    id: string;
    signal: AbortSignal | undefined;
    read: (session: ClientSession, db: Db) => Promise<T>;
  },
): Promise<{ readonly value: T } | undefined> {
  const until = signal === undefined ? {} : { signal };
  const startedMs = performance.now();
  let gone: Timestamp | undefined;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const found = await connection.retryable((db) =>
      db.collection<SnapshotTime>(TIMES).findOne({ _id: id }, until),
    );
    if (found === null || gone?.equals(found.time)) return undefined;
    const { time } = found;
    try {
      const value = await connection.inSession((session, db) => {
        // The driver's name for it; its types do not show it in this version.
        (session as { snapshotTime?: Timestamp }).snapshotTime = time;
        return read(session, db);
      });
      return { value };
    } catch (error) {
      const fault = snapshotFault(error);
      if (fault === "unsupported") return undefined;
      if (fault === "other") throw error;
      if (fault === "gone") gone = time;
      else if (attempt === ATTEMPTS || !connection.hasPatience(startedMs)) throw new StoreAwayError(error);
    }
  }
  return undefined;
}

/** What a read of a past state has failed of. */
export function snapshotFault(error: unknown): "unsupported" | "gone" | "transient" | "other" {
  const { name, code } = error as { name?: unknown; code?: unknown };
  // Other errors have numbers too, by other lists.
  if (name === "MongoServerError" && UNSUPPORTED_CODES.has(code)) return "unsupported";
  if (name === "MongoServerError" && GONE_CODES.has(code)) return "gone";
  return isTransient(error) ? "transient" : "other";
}
