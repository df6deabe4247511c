import { ServiceError } from "../errors.ts";
import type { Collection, RowOf } from "../storage/collection.ts";
import type { Store } from "../storage/port.ts";

export interface ConsistentRead<C, T> {
  /** Each look and each read is of `view`: a snapshot, or else the store itself. */
  readonly getCheckpoint: (view?: Store) => Promise<C | undefined>;
  readonly hasData: (checkpoint: C | undefined) => checkpoint is C;
  readonly read: (checkpoint: C, view?: Store) => Promise<T>;
  /** Whether what was read at `before` is of one state of the index, which has come to `after` meanwhile. */
  readonly isSameState: (before: C, after: C | undefined) => boolean | Promise<boolean>;
  readonly maxAttempts: number;
  /** Ends the reading with its reason: whoever asked is gone. The looks and reads themselves are the caller's. */
  readonly signal?: AbortSignal | undefined;
  /** Absent where `read` cannot read from a view. */
  readonly snapshots?: Snapshots;
}

/** Where snapshots of an index come from. */
export interface Snapshots {
  /**
   * first: before any look. MongoDB writes in steps, and two equal checkpoints cannot rule out that the reads between
   * them saw a write that has begun. last: after a failed attempt, since a snapshot costs SQLite a connection.
   */
  readonly when: "first" | "last";
  readonly take: <R>(read: (view: Store) => Promise<R>) => Promise<{ readonly value: R } | undefined>;
}

/** The snapshots of a store by its checkpoint's row. */
export function snapshotsOf<C extends Collection>(
  store: Store,
  target: C,
  key: Partial<RowOf<C>>,
): Snapshots {
  return {
    when: store.engine === "mongodb" ? "first" : "last",
    take: (read) => store.snapshot(target, key, read),
  };
}

export interface ConsistentValue<C, T> {
  readonly checkpoint: C;
  readonly value: T;
  /** False where the ingest wrote during every attempt: the value is that of the last one. */
  readonly isConsistent: boolean;
}

/**
 * Reads from a snapshot, or where the store has none between two looks at the checkpoint, and again where the ingest has
 * written between them. Undefined where nothing is indexed.
 */
export async function readConsistently<C, T>(
  query: ConsistentRead<C, T>,
): Promise<ConsistentValue<C, T> | undefined> {
  const { getCheckpoint, hasData, read, isSameState, maxAttempts, signal, snapshots } = query;
  signal?.throwIfAborted();
  const fromSnapshot = () => snapshots?.take((view) => readView(query, view));
  if (snapshots?.when === "first") {
    const found = await fromSnapshot();
    if (found !== undefined) return found.value;
  }
  let checkpoint = await getCheckpoint();
  for (let attempt = 1; ; attempt++) {
    if (!hasData(checkpoint)) return undefined;
    signal?.throwIfAborted();
    const value = await read(checkpoint);
    signal?.throwIfAborted();
    const after = await getCheckpoint();
    const isConsistent = await isSameState(checkpoint, after);
    if (isConsistent) return { checkpoint, value, isConsistent };
    const found = attempt === 1 && snapshots?.when === "last" ? await fromSnapshot() : undefined;
    if (found !== undefined) return found.value;
    if (attempt >= maxAttempts) return { checkpoint, value, isConsistent };
    checkpoint = after;
  }
}

async function readView<C, T>(
  { getCheckpoint, hasData, read }: ConsistentRead<C, T>,
  view: Store,
): Promise<ConsistentValue<C, T> | undefined> {
  const checkpoint = await getCheckpoint(view);
  if (!hasData(checkpoint)) return undefined;
  return { checkpoint, value: await read(checkpoint, view), isConsistent: true };
}

/** As readConsistently. Throws unavailable where the store has no snapshots and the ingest wrote during every attempt. */
export async function requireConsistent<C, T>(
  query: ConsistentRead<C, T>,
): Promise<{ checkpoint: C; value: T } | undefined> {
  const found = await readConsistently(query);
  if (found === undefined) return undefined;
  const { checkpoint, value, isConsistent } = found;
  if (isConsistent) return { checkpoint, value };
  throw new ServiceError("unavailable", "The index is being rewritten; try again in a moment.", {
    retryAfterSeconds: 1,
  });
}
