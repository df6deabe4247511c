import { addSwap, type BucketSwap, emptyBucket, MINUTE, SPANS, startOf } from "../../metrics/bucket.ts";
import type { PoolUserRow, RollupRow } from "../../store/collections.ts";
import { getPoolUsers, getRollups, type BucketKey } from "../../store/queries.ts";
import type { Store } from "../../../shared/storage/port.ts";

/** Rows kept in memory between writes: beyond it the oldest clean ones go. */
const KEEP_ROWS = 60_000;

export interface SwapMark extends BucketSwap {
  readonly poolAddress: string;
  readonly user: string;
  readonly time: number;
}

/**
 * Rollups and last-seen users of one chain as absolute rows: loaded before they are changed, written whole.
 * Replaying a write is therefore harmless.
 */
export class BucketBook {
  readonly #store: Store;
  readonly #chainId: number;
  readonly #rollups = new Map<string, RollupRow>();
  readonly #users = new Map<string, PoolUserRow>();
  readonly #dirtyRollups = new Map<string, RollupRow>();
  readonly #dirtyUsers = new Map<string, PoolUserRow>();

  constructor(store: Store, chainId: number) {
    this.#store = store;
    this.#chainId = chainId;
  }

  /** Loads everything that adding these swaps will change: two round trips. */
  async prepare(swaps: readonly { poolAddress: string; user: string; time: number }[]): Promise<void> {
    const chainId = this.#chainId;
    const users = new Map<string, { poolAddress: string; user: string }>();
    const buckets = new Map<string, BucketKey>();
    const want = (poolAddress: string, time: number) => {
      for (const span of SPANS) {
        const start = startOf(time, span);
        const key = bucketKey(poolAddress, span, start);
        if (!this.#rollups.has(key)) buckets.set(key, { poolAddress, span, start });
      }
    };
    for (const { poolAddress, user, time } of swaps) {
      const key = userKey(poolAddress, user);
      const known = this.#users.get(key);
      if (known === undefined) users.set(key, { poolAddress, user });
      else want(poolAddress, known.lastMinute);
      want(poolAddress, time);
    }
    if (users.size > 0) {
      for (const row of await getPoolUsers(this.#store, { chainId, users: [...users.values()] })) {
        this.#users.set(userKey(row.poolAddress, row.user), row);
        want(row.poolAddress, row.lastMinute);
      }
    }
    if (buckets.size === 0) return;
    for (const row of await getRollups(this.#store, { chainId, buckets: [...buckets.values()] })) {
      this.#rollups.set(bucketKey(row.poolAddress, row.span, row.start), row);
    }
  }

  /** Adds one swap; answers the start of the minute in which its user swapped in this pool before, or null. */
  add(swap: SwapMark): number | null {
    const { poolAddress, user, time } = swap;
    const minute = startOf(time, MINUTE);
    const key = userKey(poolAddress, user);
    const previous = this.#users.get(key)?.lastMinute ?? null;
    for (const span of SPANS) {
      const start = startOf(time, span);
      const row = this.#touchRollup(poolAddress, span, start);
      addSwap(row, swap);
      const previousStart = previous === null ? null : startOf(previous, span);
      if (previousStart === start) continue;
      row.lastSeenUsers += 1;
      if (previousStart !== null) this.#touchRollup(poolAddress, span, previousStart).lastSeenUsers -= 1;
    }
    if (previous !== minute) {
      const row = { chainId: this.#chainId, poolAddress, user, lastMinute: minute };
      this.#users.set(key, row);
      this.#dirtyUsers.set(key, row);
    }
    return previous;
  }

  #touchRollup(poolAddress: string, span: number, start: number): RollupRow {
    const key = bucketKey(poolAddress, span, start);
    let row = this.#rollups.get(key);
    if (row === undefined) {
      row = { chainId: this.#chainId, poolAddress, span, start, ...emptyBucket() };
      this.#rollups.set(key, row);
    }
    this.#dirtyRollups.set(key, row);
    return row;
  }

  /** What changed since the last take. */
  take(): { rollups: RollupRow[]; users: PoolUserRow[] } {
    const taken = { rollups: [...this.#dirtyRollups.values()], users: [...this.#dirtyUsers.values()] };
    this.#dirtyRollups.clear();
    this.#dirtyUsers.clear();
    dropOldest(this.#rollups);
    dropOldest(this.#users);
    return taken;
  }
}

function bucketKey(pool: string, span: number, start: number): string {
  return `${pool}:${span}:${start}`;
}

function userKey(pool: string, user: string): string {
  return `${pool}:${user}`;
}

function dropOldest(rows: Map<string, unknown>): void {
  let excess = rows.size - KEEP_ROWS;
  for (const key of rows.keys()) {
    if (excess-- <= 0) return;
    rows.delete(key);
  }
}
