/**
 * The database port, with only what the services need: declared collections, idempotent bulk writes, indexed reads.
 * Adapters: sqlite/ (embedded default) and mongodb/. suite.ts is the contract that both must pass.
 */
import type { Collection, FieldOf, RowOf, SummableField, Value } from "./collection.ts";
import type { RowList, Rows } from "./row-list.ts";

/** A value (equality; null matches null), a set, or bounds. Nulls never satisfy bounds. */
export type Condition<V> =
  | V
  | { readonly in: readonly V[] }
  | { readonly gt?: V; readonly gte?: V; readonly lt?: V; readonly lte?: V };
export type Filter<R> = { readonly [K in keyof R]?: Condition<R[K]> };

export interface OrderBy<R> {
  readonly field: keyof R & string;
  readonly direction: "asc" | "desc";
}

/** Further conditions of a read, and the index it uses. */
export interface Selection<R> {
  /** Rows must satisfy one of these filters too. */
  readonly anyOf?: readonly Filter<R>[];
  /**
   * Forces the index of these fields (or the key): where many rows match, only the caller knows whether to walk the
   * order's index past other rows, or to collect and sort.
   */
  readonly via?: readonly (keyof R & string)[];
}

export interface Query<R, K extends keyof R = keyof R> extends Selection<R> {
  readonly filter?: Filter<R>;
  /** Nulls sort last in either direction. Without an order, rows come in key order. */
  readonly order?: readonly OrderBy<R>[];
  readonly skip?: number;
  readonly limit?: number;
  /** Only these fields are read and returned. */
  readonly fields?: readonly K[];
}

/** One step of a write. Build with put, remove, removeWhere, requireRow, claim and inParallel. */
export type WriteStep = (
  | {
      readonly kind: "put";
      readonly rows: Rows<Record<string, unknown>>;
      readonly fence?: Fence;
    }
  | {
      readonly kind: "claim";
      readonly key: Record<string, unknown>;
      readonly fence: Fence;
    }
  | {
      readonly kind: "remove";
      readonly keys: readonly Record<string, unknown>[];
    }
  | {
      readonly kind: "removeWhere";
      readonly filter: Filter<Record<string, Value>>;
    }
  | {
      readonly kind: "require";
      readonly key: Record<string, unknown>;
      readonly expected: Filter<Record<string, Value>>;
    }
) & {
  readonly collection: Collection;
  /** Neighbours of one group need no order among themselves: see atOnce. */
  readonly group?: symbol;
};

/** The right to write a row: see putFenced. */
export interface Fence {
  /** Grows with each new holder of the right. */
  readonly token: number;
  /** A "require" step that fails once another holds it. */
  readonly guard: WriteStep;
}

/** Inserts or replaces whole rows by key; idempotent. */
export function put<C extends Collection>(target: C, rows: Rows<RowOf<C>>): WriteStep {
  return { kind: "put", collection: target, rows: rows as Rows<Record<string, unknown>> };
}

/**
 * Inserts or replaces one row unless a larger token has written or claimed it: then the write fails with a ConflictError.
 * On MongoDB the token stands in the filter of the write itself, so no pause between a check and the write matters. On
 * SQLite the guard is checked in the transaction of the write, which is the same.
 */
export function putFenced<C extends Collection>(target: C, row: RowOf<C>, fence: Fence): WriteStep {
  return { kind: "put", collection: target, rows: [row as Record<string, unknown>], fence };
}

/**
 * Shuts out smaller tokens from a row before it is read: from here on it changes by the holder of this token only. A
 * row that does not exist is not claimed.
 */
export function claim<C extends Collection>(target: C, key: Partial<RowOf<C>>, fence: Fence): WriteStep {
  return { kind: "claim", collection: target, key: key as Record<string, unknown>, fence };
}

/** Deletes rows by key; missing keys are no error. */
export function remove<C extends Collection>(target: C, keys: readonly Partial<RowOf<C>>[]): WriteStep {
  return { kind: "remove", collection: target, keys: keys as readonly Record<string, unknown>[] };
}

/** Deletes every row that matches; the filter must be served by the key or an index. */
export function removeWhere<C extends Collection>(target: C, filter: Filter<RowOf<C>>): WriteStep {
  return { kind: "removeWhere", collection: target, filter: filter as Filter<Record<string, Value>> };
}

/**
 * Fails the write with a ConflictError unless the row with this key exists and satisfies `expected`.
 * SQLite: the whole write is rolled back, and the row cannot change before the write is done. MongoDB: earlier steps
 * stay, later ones do not happen; another process may change the row between two steps.
 */
export function requireRow<C extends Collection>(
  target: C,
  key: Partial<RowOf<C>>,
  expected: Filter<RowOf<C>>,
): WriteStep {
  return { kind: "require", collection: target, key, expected: expected as Filter<Record<string, Value>> };
}

/**
 * Steps of different collections that need no order among themselves: MongoDB runs them in parallel, which saves a round
 * trip each.
 */
export function inParallel(...steps: readonly WriteStep[]): WriteStep[] {
  const group = Symbol("at once");
  return steps.map((step) => ({ ...step, group }));
}

/** Whether a step has nothing to do: adapters skip it. */
export function isEmpty(step: WriteStep): boolean {
  return (
    (step.kind === "put" && step.rows.length === 0) || (step.kind === "remove" && step.keys.length === 0)
  );
}

/** The steps in order, grouped by those that may run in parallel. */
export function parallelGroups(steps: readonly WriteStep[]): WriteStep[][] {
  const groups: WriteStep[][] = [];
  for (const step of steps) {
    const last = groups.at(-1);
    if (step.group !== undefined && last?.[0]?.group === step.group) last.push(step);
    else groups.push([step]);
  }
  return groups;
}

/** A required row is absent or different: another process was first. */
export class ConflictError extends Error {
  override readonly name = "ConflictError";
  readonly collectionName: string;

  constructor(collectionName: string) {
    super(`Cannot write: the required row of ${collectionName} is absent or has changed`);
    this.collectionName = collectionName;
  }
}

/** Another server of a cluster has taken over: what was written and read before may not be there. */
export class FailoverError extends Error {
  override readonly name = "FailoverError";
  constructor() {
    super("Cannot go on writing: another server of the database has taken over; read the checkpoint again");
  }
}

/**
 * The database cannot be reached, or elects whom to ask: it passes. Adapters throw it, so that a lost connection to
 * anybody else (an RPC endpoint, Redis), which looks the same, is never taken for the store's. Its message is the cause's.
 */
export class StoreAwayError extends Error {
  override readonly name = "StoreAwayError";
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** How the engine runs a query: by an index, by reading every row, or unknown. */
export type QueryPlan = "index" | "scan" | "unknown";

/**
 * What a process does with a store: an ingest writes; "read" never writes; "either" writes where it may, which is what a
 * service can do without.
 */
export type Access = "write" | "read" | "either";

/** Writes of a long run, one at a time, beside the reads of their store. */
export interface BulkWriter {
  /** As Store.write. Rows are taken as they are when it is called. */
  write(steps: readonly WriteStep[]): Promise<void>;
  /** No write may be under way. */
  close(): Promise<void>;
}

export interface StoreSize {
  /** Rows and indexes, with the write-ahead log. */
  readonly storedBytes: number;
  /** Left on the disk that holds them; undefined where the server does not say. */
  readonly freeBytes: number | undefined;
}

export interface Store {
  readonly engine: "sqlite" | "mongodb";
  /** Whether this process may only read: what writes fails, and `declare` creates nothing. */
  readonly isReadOnly: boolean;
  /**
   * Creates missing collections and indexes. Idempotent; a changed declaration of an existing collection is an error, and
   * so is a missing one where this process may only read. Former indexes are dropped by processes that may write: on SQLite
   * at once, on MongoDB by writers after an hour, since services of an earlier version read by them until they are replaced.
   */
  declare(collections: readonly Collection[]): Promise<void>;
  /**
   * Where none of the collections has a row: forgets how they were declared, so that the next `declare` makes them anew, as its
   * version has them. Else does nothing; returns whether it forgot them. Nobody may write to them meanwhile.
   */
  forget(collections: readonly Collection[]): Promise<boolean>;
  /**
   * The collections that there are, ready for use as they are stored, by whatever version of this program: also those that
   * `declare` refuses. To count and delete what is in them.
   */
  openStored(): Promise<readonly Collection[]>;
  /**
   * Applies the steps in order. SQLite: all or nothing. MongoDB: each step (or group: inParallel) is complete before the
   * next begins, so callers order them to be replayable (rows, then what derives from rows, then the checkpoint).
   * A put without rows and a remove without keys are skipped, whatever their collection.
   * @throws FailoverError (MongoDB) for steps with a guard, where another server took over during the write.
   */
  write(steps: readonly WriteStep[]): Promise<void>;
  /**
   * For many large writes: where a write would hold the process (SQLite), a thread of its own makes it.
   * @param onFailure the thread has died, for this reason: from here on it is as `write`
   */
  openBulkWriter(onFailure: (reason: string) => void): BulkWriter;
  /**
   * A list that collects rows of a declared collection from write to write.
   * @param orderedBy a text field; null: rows come in the order of writing
   * @param later fields side by side that are told after rows were taken (TakenRows): the first an integer or null, none hex
   */
  openRows<C extends Collection, L extends FieldOf<C> = never>(
    target: C,
    orderedBy: FieldOf<C> | null,
    later?: readonly L[],
  ): RowList<RowOf<C>, L>;
  get<C extends Collection>(from: C, key: Partial<RowOf<C>>): Promise<RowOf<C> | undefined>;
  /** The rows that exist, one per distinct key, in no particular order: one round trip for many keys. */
  getMany<C extends Collection>(from: C, keys: readonly Partial<RowOf<C>>[]): Promise<RowOf<C>[]>;
  /**
   * For each key its row, or else the last row before it that differs only in the key's last field: the value at a block,
   * where rows are written on change. Each row once, in no particular order.
   * With `by`, the leading fields of an index take the place of the key's; of rows that are the same in them, the last by
   * key counts. SQLite: all from one snapshot. MongoDB: one small query a key, several at a time.
   */
  getLast<C extends Collection>(
    from: C,
    keys: readonly Partial<RowOf<C>>[],
    by?: readonly (keyof RowOf<C> & string)[],
  ): Promise<RowOf<C>[]>;
  find<C extends Collection, K extends keyof RowOf<C> = keyof RowOf<C>>(
    from: C,
    query: Query<RowOf<C>, K>,
  ): Promise<Pick<RowOf<C>, K>[]>;
  count<C extends Collection>(
    from: C,
    filter: Filter<RowOf<C>>,
    selection?: Selection<RowOf<C>>,
  ): Promise<number>;
  /**
   * Totals over the rows that match, computed by the engine in one round trip. Nulls add nothing; 0 where
   * no row matches. A float total is exact where every partial sum is (as for multiples of 2^-20), in any order.
   * @throws RangeError for an int total beyond ±(2^53 − 1) or a float total beyond the range of a float.
   */
  sum<C extends Collection, K extends SummableField<C>>(
    from: C,
    filter: Filter<RowOf<C>>,
    fields: readonly K[],
  ): Promise<Record<K, number>>;
  /**
   * Writes one row if the stored row with its key satisfies `expected` (or, with null, if no row has that key).
   * Atomic against other processes. Returns whether it wrote.
   */
  compareAndSet<C extends Collection>(
    target: C,
    row: RowOf<C>,
    expected: Filter<RowOf<C>> | null,
  ): Promise<boolean>;
  /**
   * Which server takes the writes, as a text that changes with every failover; always the same on SQLite. One who
   * knows what is stored from memory reads it again when this has changed.
   */
  readonly term: string;

  /**
   * Why the file cannot be trusted: a read or write has found it damaged. Some reads still succeed then, so a process
   * that has seen it serves nothing any more.
   */
  readonly damage: string | undefined;

  /**
   * Runs reads on a view in which nothing changes, and which is of one state: no write that ends in a fenced put of the
   * row with this key is half done in it. The view ends with `read`; it takes no writes. Undefined where the store has
   * no such view (see docs/mongodb.md), a database in memory among them.
   */
  snapshot<C extends Collection, T>(
    target: C,
    key: Partial<RowOf<C>>,
    read: (view: Store) => Promise<T>,
  ): Promise<{ readonly value: T } | undefined>;

  /**
   * This store, for reads that nobody wants any more once the signal aborts: none begins then, and what a server is being
   * asked is given up. They fail with the signal's reason. Writes go on.
   */
  within(signal: AbortSignal): Store;

  /** How much is stored, and how much more fits. */
  size(): Promise<StoreSize>;

  /** For tests and tuning. */
  plan<C extends Collection>(from: C, query: Query<RowOf<C>>): Promise<QueryPlan>;
  close(): Promise<void>;
}
