import type { Store } from "../../../shared/storage/port.ts";
import { addSwap, type BucketSwap, MINUTE, SPANS, type Span, startOf } from "../../metrics/bucket.ts";
import type { PoolUserRow, RollupRow } from "../../store/collections.ts";
import { type BucketKey, getPoolUsers, getRollups } from "../../store/queries.ts";
import { RecentRows } from "./recent-rows.ts";

/** Most rows kept in memory between writes, some 200 bytes each. */
const MAX_ROLLUPS = 80_000;
const MAX_USERS = 80_000;

interface UserSwap extends BucketSwap {
  readonly poolAddress: string;
  readonly user: string;
  readonly time: number;
}

/** What a swap ends: where its user swapped last in this pool. */
export interface PreviousSwap {
  /** Start of its minute; null for the first time. */
  readonly minute: number | null;
  /** previousUsers of the swap's row. */
  readonly users: string | null;
}

/**
 * Rollups and last-seen users of one chain as absolute rows: loaded before they are changed, written whole.
 * Replaying a write is therefore harmless.
 */
export class BucketBook {
  readonly #store: Store;
  readonly #chainId: number;
  /** By start × 4 + index of the span. */
  readonly #rollups = new RecentRows<number, RollupRow>(MAX_ROLLUPS);
  readonly #users = new RecentRows<string, PoolUserRow>(MAX_USERS);
  readonly #dirtyRollups = new Set<RollupRow>();
  readonly #dirtyUsers = new Set<PoolUserRow>();
  /**
   * By pool, the rows that its last swap since the last flush was added to, by index of the span. Most swaps of a batch are
   * in the minute of the pool's swap before: they find all three by one look-up.
   */
  readonly #current = new Map<string, (RollupRow | undefined)[]>();

  constructor(store: Store, chainId: number) {
    this.#store = store;
    this.#chainId = chainId;
  }

  /**
   * Loads everything that adding these swaps will change: two round trips.
   * @param lastTimeOf time of a pool's last stored event: no bucket that starts after it is stored. Infinity: not known
   */
  async prepare(
    swaps: readonly { poolAddress: string; user: string; time: number }[],
    lastTimeOf: (pool: string) => number = () => Number.POSITIVE_INFINITY,
  ): Promise<void> {
    const chainId = this.#chainId;
    const users = new Map<string, Set<string>>();
    const buckets = new Map<string, Map<number, BucketKey>>();
    const want = (poolAddress: string, time: number, lastTime: number) => {
      for (const span of SPANS) {
        const start = startOf(time, span);
        const key = rollupKey(span, start);
        if (start > lastTime || this.#rollups.get(poolAddress, key) !== undefined) continue;
        entryOf(buckets, poolAddress, newMap).set(key, { poolAddress, span, start });
      }
    };
    const lastWanted = new Map<string, number>();
    for (const { poolAddress, user, time } of swaps) {
      const minute = startOf(time, MINUTE);
      const known = this.#users.get(poolAddress, user);
      if (known === undefined) entryOf(users, poolAddress, newSet).add(user);
      else if (known.lastMinute !== minute) want(poolAddress, known.lastMinute, lastTimeOf(poolAddress));
      if (lastWanted.get(poolAddress) === minute) continue;
      lastWanted.set(poolAddress, minute);
      want(poolAddress, time, lastTimeOf(poolAddress));
    }
    if (users.size > 0) {
      const keys = [...users].flatMap(([poolAddress, names]) =>
        [...names].map((user) => ({ poolAddress, user })),
      );
      for (const row of await getPoolUsers(this.#store, { chainId, users: keys })) {
        this.#users.set(row.poolAddress, row.user, row);
        want(row.poolAddress, row.lastMinute, lastTimeOf(row.poolAddress));
      }
    }
    const missing = [...buckets.values()].flatMap((keys) => [...keys.values()]);
    if (missing.length === 0) return;
    for (const row of await getRollups(this.#store, { chainId, buckets: missing }))
      this.#rollups.set(row.poolAddress, rollupKey(row.span as Span, row.start), row);
  }

  /** Adds one swap; returns what is to be known of its user's previous one where this one is undone. */
  add(swap: UserSwap): PreviousSwap {
    const { poolAddress, user, time } = swap;
    const minute = startOf(time, MINUTE);
    const known = this.#users.get(poolAddress, user);
    const previous = known?.lastMinute ?? null;
    const current = entryOf(this.#current, poolAddress, newList);
    let left: string | null = null;
    for (let i = 0; i < SPANS.length; i++) {
      const span = SPANS[i] as Span;
      const start = startOf(time, span);
      let row = current[i];
      if (row === undefined || row.start !== start) {
        row = this.#touchRollup(poolAddress, span, start);
        current[i] = row;
      }
      addSwap(row, swap);
      const previousStart = previous === null ? null : startOf(previous, span);
      if (previousStart === start) continue;
      row.lastSeenUsers += 1;
      if (previousStart === null) continue;
      const users = this.#leave(poolAddress, span, previousStart).toString(16);
      left = left === null ? users : `${left} ${users}`;
    }
    if (known === undefined) {
      const row = { chainId: this.#chainId, poolAddress, user, lastMinute: minute };
      this.#users.set(poolAddress, user, row);
      this.#dirtyUsers.add(row);
    } else if (previous !== minute) {
      known.lastMinute = minute;
      this.#dirtyUsers.add(known);
    }
    return { minute: previous, users: left };
  }

  /**
   * Takes a user out of a stored bucket, and returns how many it had; -1 for one that retention has removed
   * (ingest/retention/): it stays removed.
   */
  #leave(poolAddress: string, span: Span, start: number): number {
    const row = this.#rollups.get(poolAddress, rollupKey(span, start));
    if (row === undefined) return -1;
    const users = row.lastSeenUsers;
    row.lastSeenUsers = users - 1;
    this.#dirtyRollups.add(row);
    return users;
  }

  #touchRollup(poolAddress: string, span: Span, start: number): RollupRow {
    const key = rollupKey(span, start);
    let row = this.#rollups.get(poolAddress, key);
    if (row === undefined) {
      row = emptyRow(this.#chainId, { poolAddress, span, start });
      this.#rollups.set(poolAddress, key, row);
    }
    this.#dirtyRollups.add(row);
    return row;
  }

  /** Returns the rows that changed since the last flush. */
  flush(): { rollups: RollupRow[]; users: PoolUserRow[] } {
    const taken = { rollups: [...this.#dirtyRollups], users: [...this.#dirtyUsers] };
    this.#dirtyRollups.clear();
    this.#dirtyUsers.clear();
    // A row that is dropped may be loaded again as another object.
    this.#current.clear();
    this.#rollups.age();
    this.#users.age();
    return taken;
  }

  /** Forgets the rows of pools that were rolled back in the store. */
  forget(pools: Iterable<string>): void {
    for (const pool of pools) {
      this.#rollups.forget(pool);
      this.#users.forget(pool);
      this.#current.delete(pool);
    }
  }
}

function rollupKey(span: Span, start: number): number {
  return start * 4 + SPANS.indexOf(span);
}

/** A whole literal: one in two swaps of a quiet market makes some (docs/decisions/0084). */
function emptyRow(chainId: number, { poolAddress, span, start }: BucketKey): RollupRow {
  return {
    chainId,
    poolAddress,
    span,
    start,
    swapCount: 0,
    volumeUsd: 0,
    feesUsd: 0,
    unpricedCount: 0,
    unpricedFeeCount: 0,
    tickTravel: 0,
    closePrice: 0,
    lastSeenUsers: 0,
  };
}

const newMap = () => new Map<number, BucketKey>();
const newList = (): (RollupRow | undefined)[] => [];
const newSet = () => new Set<string>();

function entryOf<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = create();
    map.set(key, value);
  }
  return value;
}
