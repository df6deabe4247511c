import type { Store } from "../../../shared/storage/port.ts";
import {
  addSwap,
  type BucketSwap,
  emptyBucket,
  MINUTE,
  SPANS,
  type Span,
  startOf,
} from "../../metrics/bucket.ts";
import type { PoolUserRow, RollupRow } from "../../store/collections.ts";
import { type BucketKey, getPoolUsers, getRollups } from "../../store/queries.ts";

/** Most rows kept in memory between writes; beyond it all are dropped, since written rows can be loaded again. */
const MAX_ROWS = 60_000;

interface UserSwap extends BucketSwap {
  readonly poolAddress: string;
  readonly user: string;
  readonly time: number;
}

/** The cached rows of one pool. Nested maps: building composite keys would cost more than the lookup. */
interface PoolRows {
  /** By start × 4 + index of the span. */
  readonly rollups: Map<number, RollupRow>;
  readonly users: Map<string, PoolUserRow>;
}

/**
 * Rollups and last-seen users of one chain as absolute rows: loaded before they are changed, written whole.
 * Replaying a write is therefore harmless.
 */
export class BucketBook {
  readonly #store: Store;
  readonly #chainId: number;
  readonly #pools = new Map<string, PoolRows>();
  #rowCount = 0;
  readonly #dirtyRollups = new Set<RollupRow>();
  readonly #dirtyUsers = new Set<PoolUserRow>();

  constructor(store: Store, chainId: number) {
    this.#store = store;
    this.#chainId = chainId;
  }

  /** Loads everything that adding these swaps will change: two round trips. */
  async prepare(swaps: readonly { poolAddress: string; user: string; time: number }[]): Promise<void> {
    const chainId = this.#chainId;
    const users = new Map<string, Set<string>>();
    const buckets = new Map<string, Map<number, BucketKey>>();
    const want = (poolAddress: string, time: number) => {
      const { rollups } = this.#rowsOf(poolAddress);
      for (const span of SPANS) {
        const start = startOf(time, span);
        const key = rollupKey(span, start);
        if (!rollups.has(key)) entryOf(buckets, poolAddress, newMap).set(key, { poolAddress, span, start });
      }
    };
    for (const { poolAddress, user, time } of swaps) {
      // A known user's last buckets are loaded too: both are loaded together, and dropped together.
      if (!this.#rowsOf(poolAddress).users.has(user)) entryOf(users, poolAddress, newSet).add(user);
      want(poolAddress, time);
    }
    if (users.size > 0) {
      const keys = [...users].flatMap(([poolAddress, names]) =>
        [...names].map((user) => ({ poolAddress, user })),
      );
      for (const row of await getPoolUsers(this.#store, { chainId, users: keys })) {
        this.#addUser(row);
        want(row.poolAddress, row.lastMinute);
      }
    }
    const missing = [...buckets.values()].flatMap((keys) => [...keys.values()]);
    if (missing.length === 0) return;
    for (const row of await getRollups(this.#store, { chainId, buckets: missing })) this.#addRollup(row);
  }

  /** Adds one swap; returns the start of the minute of its user's previous swap in this pool, or null. */
  add(swap: UserSwap): number | null {
    const { poolAddress, user, time } = swap;
    const minute = startOf(time, MINUTE);
    const known = this.#rowsOf(poolAddress).users.get(user);
    const previous = known?.lastMinute ?? null;
    for (const span of SPANS) {
      const start = startOf(time, span);
      const row = this.#touchRollup(poolAddress, span, start);
      addSwap(row, swap);
      const previousStart = previous === null ? null : startOf(previous, span);
      if (previousStart === start) continue;
      row.lastSeenUsers += 1;
      if (previousStart !== null) this.#touchRollup(poolAddress, span, previousStart).lastSeenUsers -= 1;
    }
    if (known === undefined)
      this.#dirtyUsers.add(this.#addUser({ chainId: this.#chainId, poolAddress, user, lastMinute: minute }));
    else if (previous !== minute) {
      known.lastMinute = minute;
      this.#dirtyUsers.add(known);
    }
    return previous;
  }

  #touchRollup(poolAddress: string, span: Span, start: number): RollupRow {
    const known = this.#rowsOf(poolAddress).rollups.get(rollupKey(span, start));
    const row =
      known ?? this.#addRollup({ chainId: this.#chainId, poolAddress, span, start, ...emptyBucket() });
    this.#dirtyRollups.add(row);
    return row;
  }

  #addRollup(row: RollupRow): RollupRow {
    this.#rowsOf(row.poolAddress).rollups.set(rollupKey(row.span as Span, row.start), row);
    this.#rowCount += 1;
    return row;
  }

  #addUser(row: PoolUserRow): PoolUserRow {
    this.#rowsOf(row.poolAddress).users.set(row.user, row);
    this.#rowCount += 1;
    return row;
  }

  #rowsOf(poolAddress: string): PoolRows {
    return entryOf(this.#pools, poolAddress, newPoolRows);
  }

  /** Drops a pool's rows; none of them may wait for a flush. */
  forget(poolAddress: string): void {
    const rows = this.#pools.get(poolAddress);
    if (rows === undefined) return;
    this.#pools.delete(poolAddress);
    this.#rowCount -= rows.rollups.size + rows.users.size;
  }

  /** Returns the rows that changed since the last flush. */
  flush(): { rollups: RollupRow[]; users: PoolUserRow[] } {
    const taken = { rollups: [...this.#dirtyRollups], users: [...this.#dirtyUsers] };
    this.#dirtyRollups.clear();
    this.#dirtyUsers.clear();
    if (this.#rowCount > MAX_ROWS) {
      this.#pools.clear();
      this.#rowCount = 0;
    }
    return taken;
  }
}

function rollupKey(span: Span, start: number): number {
  return start * 4 + SPANS.indexOf(span);
}

const newMap = () => new Map<number, BucketKey>();
const newSet = () => new Set<string>();
const newPoolRows = (): PoolRows => ({ rollups: new Map(), users: new Map() });

function entryOf<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = create();
    map.set(key, value);
  }
  return value;
}
