import type { Store } from "../../../shared/storage/port.ts";
import { addSwap, type BucketSwap, MINUTE, SPANS, type Span, startOf } from "../../metrics/bucket.ts";
import type { PoolUserRow, RollupRow } from "../../store/collections.ts";
import { type BucketKey, getPoolUsers, getRollups, hasPoolUsers } from "../../store/queries.ts";
import { PairFilter } from "./pair-filter.ts";
import { type PoolRows, RecentPoolRows } from "./pool-rows.ts";

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

/** More pairs than a filter of its size tells apart. */
const MOST_PAIRS = 12_000_000;

/**
 * Rollups and last-seen users of one chain as absolute rows: loaded before they are changed, written whole.
 * Replaying a write is therefore harmless.
 */
export class BucketBook {
  readonly #store: Store;
  readonly #chainId: number;
  readonly #rows = new RecentPoolRows();
  readonly #dirtyRollups = new Set<RollupRow>();
  readonly #dirtyUsers = new Set<PoolUserRow>();
  /**
   * All pairs of pool and user that are stored, where the book began with none: a market's first day has some millions, most
   * of them with one swap. "unread": not known yet; undefined: others may be stored.
   */
  #stored: PairFilter | "unread" | undefined = "unread";

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
    if (this.#stored === "unread")
      this.#stored = (await hasPoolUsers(this.#store, chainId)) ? undefined : new PairFilter();
    const stored = this.#stored;
    const users = new Map<string, Set<string>>();
    const buckets = new Map<string, Map<number, BucketKey>>();
    const want = (poolAddress: string, time: number, lastTime: number) => {
      const { rollups } = this.#rows.get(poolAddress);
      for (const span of SPANS) {
        const start = startOf(time, span);
        const key = rollupKey(span, start);
        if (start > lastTime || rollups.get(key) !== undefined) continue;
        entryOf(buckets, poolAddress, newMap).set(key, { poolAddress, span, start });
      }
    };
    const lastWanted = new Map<string, number>();
    for (const { poolAddress, user, time } of swaps) {
      const minute = startOf(time, MINUTE);
      const rows = this.#rows.get(poolAddress);
      const known = rows.users.get(user);
      if (known === undefined) {
        if (stored?.mayHave(rows.hash, user) ?? true) entryOf(users, poolAddress, newSet).add(user);
      } else if (known.lastMinute !== minute) want(poolAddress, known.lastMinute, lastTimeOf(poolAddress));
      if (lastWanted.get(poolAddress) === minute) continue;
      lastWanted.set(poolAddress, minute);
      want(poolAddress, time, lastTimeOf(poolAddress));
    }
    if (users.size > 0) {
      const keys = [...users].flatMap(([poolAddress, names]) =>
        [...names].map((user) => ({ poolAddress, user })),
      );
      for (const row of await getPoolUsers(this.#store, { chainId, users: keys })) {
        this.#rows.get(row.poolAddress).users.set(row.user, row);
        want(row.poolAddress, row.lastMinute, lastTimeOf(row.poolAddress));
      }
    }
    const missing = [...buckets.values()].flatMap((keys) => [...keys.values()]);
    if (missing.length === 0) return;
    for (const row of await getRollups(this.#store, { chainId, buckets: missing }))
      this.#rows.get(row.poolAddress).rollups.set(rollupKey(row.span as Span, row.start), row);
  }

  /** Adds one swap; returns what is to be known of its user's previous one where this one is undone. */
  add(swap: UserSwap): PreviousSwap {
    const { poolAddress, user, time } = swap;
    const minute = startOf(time, MINUTE);
    const rows = this.#rows.get(poolAddress);
    const known = rows.users.get(user);
    const previous = known?.lastMinute ?? null;
    let left: string | null = null;
    for (let i = 0; i < SPANS.length; i++) {
      const span = SPANS[i] as Span;
      const start = startOf(time, span);
      let row = rows.current[i];
      if (row === undefined || row.start !== start) {
        row = this.#touchRollup(rows, { poolAddress, span, start });
        this.#rows.setCurrent(rows, i, row);
      }
      addSwap(row, swap);
      const previousStart = previous === null ? null : startOf(previous, span);
      if (previousStart === start) continue;
      row.lastSeenUsers += 1;
      if (previousStart === null) continue;
      const users = this.#leave(rows, span, previousStart).toString(16);
      left = left === null ? users : `${left} ${users}`;
    }
    if (known === undefined) {
      const row = { chainId: this.#chainId, poolAddress, user, lastMinute: minute };
      rows.users.set(user, row);
      this.#dirtyUsers.add(row);
      this.#noteStored(rows.hash, user);
    } else if (previous !== minute) {
      known.lastMinute = minute;
      this.#dirtyUsers.add(known);
    }
    return { minute: previous, users: left };
  }

  #noteStored(pool: number, user: string): void {
    // What is added before it is asked whether the store is empty may be stored then.
    if (this.#stored === "unread") this.#stored = undefined;
    this.#stored?.add(pool, user);
  }

  /**
   * Takes a user out of a stored bucket, and returns how many it had; -1 for one that retention has removed
   * (ingest/retention/): it stays removed.
   */
  #leave({ rollups }: PoolRows, span: Span, start: number): number {
    const row = rollups.get(rollupKey(span, start));
    if (row === undefined) return -1;
    const users = row.lastSeenUsers;
    row.lastSeenUsers = users - 1;
    this.#dirtyRollups.add(row);
    return users;
  }

  #touchRollup({ rollups }: PoolRows, at: BucketKey & { span: Span }): RollupRow {
    const key = rollupKey(at.span, at.start);
    let row = rollups.get(key);
    if (row === undefined) {
      row = emptyRow(this.#chainId, at);
      rollups.set(key, row);
    }
    this.#dirtyRollups.add(row);
    return row;
  }

  /** Returns the rows that changed since the last flush. */
  flush(): { rollups: RollupRow[]; users: PoolUserRow[] } {
    const taken = { rollups: [...this.#dirtyRollups], users: [...this.#dirtyUsers] };
    this.#dirtyRollups.clear();
    this.#dirtyUsers.clear();
    this.#rows.age();
    if (this.#stored instanceof PairFilter && this.#stored.count > MOST_PAIRS) this.#stored = undefined;
    return taken;
  }

  /** Forgets the rows of pools that another writer has changed in the store, as a rollback does. */
  forget(pools: readonly string[]): void {
    if (pools.length > 0) this.#stored = undefined;
    for (const pool of pools) this.#rows.forget(pool);
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
const newSet = () => new Set<string>();

function entryOf<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = create();
    map.set(key, value);
  }
  return value;
}
