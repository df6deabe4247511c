import { ServiceError } from "../errors.ts";

export interface ConsistentRead<C, T> {
  readonly getCheckpoint: () => Promise<C | undefined>;
  readonly hasData: (checkpoint: C | undefined) => checkpoint is C;
  readonly read: (checkpoint: C) => Promise<T>;
  /** Whether what was read at `before` is of one state of the index, which has come to `after` meanwhile. */
  readonly isSameState: (before: C, after: C | undefined) => boolean | Promise<boolean>;
  readonly maxAttempts: number;
}

export interface ConsistentValue<C, T> {
  readonly checkpoint: C;
  readonly value: T;
  /** False where the ingest wrote during every attempt: the value is that of the last one. */
  readonly isConsistent: boolean;
}

/**
 * Reads between two looks at the checkpoint, and again where the ingest has written between them. Undefined where
 * nothing is indexed.
 */
export async function readConsistently<C, T>(
  query: ConsistentRead<C, T>,
): Promise<ConsistentValue<C, T> | undefined> {
  const { getCheckpoint, hasData, read, isSameState, maxAttempts } = query;
  let checkpoint = await getCheckpoint();
  for (let attempt = 1; ; attempt++) {
    if (!hasData(checkpoint)) return undefined;
    const value = await read(checkpoint);
    const after = await getCheckpoint();
    const isConsistent = await isSameState(checkpoint, after);
    if (isConsistent || attempt >= maxAttempts) return { checkpoint, value, isConsistent };
    checkpoint = after;
  }
}

/** As readConsistently. Throws unavailable where the ingest wrote during every attempt. */
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
