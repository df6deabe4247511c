import type { Store } from "../../../shared/storage/port.ts";
import { addSwap, type BucketSwap, DAY, MINUTE, SPANS, type Span, startOf } from "../../metrics/bucket.ts";
import type { PoolUserRow, RollupRow } from "../../store/collections.ts";
import { type BucketKey, getPoolUsers, getRollups, hasPoolUsers } from "../../store/queries.ts";
import type { Detail } from "./detail.ts";
import { PairFilter } from "./pair-filter.ts";
import { type CachedRollup, type PoolRows, RecentPoolRows } from "./pool-rows.ts";

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
  readonly #isWhole: boolean;
  /** Where events do not stay, days are made of hours (history/merge-buckets.ts). */
  readonly #spans: readonly Span[];
  /**
   * Index of the first span whose buckets stay. Of minutes that do not each pool's last one is written, from which closes are
   * carried over; nobody is taken out of one.
   */
  readonly #firstKept: 0 | 1;
  readonly #rows = new RecentPoolRows();
  #batch = 0;
  /**
   * All pairs of pool and user that are stored, where the book began with none: a market's first day has some millions, most
   * of them with one swap. "unread": not known yet; undefined: others may be stored.
   */
  #stored: PairFilter | "unread" | undefined = "unread";

  constructor(store: Store, chainId: number, detail: Detail = "events") {
    this.#store = store;
    this.#chainId = chainId;
    this.#isWhole = detail === "events";
    this.#spans = this.#isWhole ? SPANS : SPANS.filter((span) => span !== DAY);
    this.#firstKept = detail === "hours" ? 1 : 0;
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
    const batch = ++this.#batch;
    const users = new Map<string, Set<string>>();
    const buckets = new Map<string, Map<number, BucketKey>>();
    const want = (rows: PoolRows, time: number, first = 0) => {
      const { poolAddress } = rows;
      let lastTime: number | undefined;
      for (let i = first; i < this.#spans.length; i++) {
        const span = this.#spans[i] as Span;
        const start = startOf(time, span);
        if (this.#cached(rows, i, start) !== undefined) continue;
        lastTime ??= lastTimeOf(poolAddress);
        if (start > lastTime) continue;
        entryOf(buckets, poolAddress, newMap).set(rollupKey(i, start), { poolAddress, span, start });
      }
    };
    for (const { poolAddress, user, time } of swaps) {
      const minute = startOf(time, MINUTE);
      const rows = this.#rows.get(poolAddress);
      const known = rows.users.get(user);
      if (known === undefined) {
        if (stored?.mayHave(rows.hash, user) ?? true) entryOf(users, poolAddress, newSet).add(user);
      } else if (minuteOf(known) !== minute) want(rows, minuteOf(known), this.#firstKept);
      const { prepared } = rows;
      if (prepared.batch === batch && prepared.minute === minute) continue;
      prepared.batch = batch;
      prepared.minute = minute;
      want(rows, time);
    }
    if (users.size > 0) {
      const keys = [...users].flatMap(([poolAddress, names]) =>
        [...names].map((user) => ({ poolAddress, user })),
      );
      for (const { poolAddress, user, lastMinute } of await getPoolUsers(this.#store, {
        chainId,
        users: keys,
      })) {
        const rows = this.#rows.get(poolAddress);
        rows.users.set(user, userOf(lastMinute, 0));
        want(rows, lastMinute, this.#firstKept);
      }
    }
    const missing = [...buckets.values()].flatMap((keys) => [...keys.values()]);
    if (missing.length === 0) return;
    for (const row of await getRollups(this.#store, { chainId, buckets: missing })) {
      const span = SPANS.indexOf(row.span as Span);
      this.#cache(this.#rows.get(row.poolAddress), span, { row, isChanged: false });
    }
  }

  /** Adds one swap; returns what is to be known of its user's previous one where this one is undone. */
  add(swap: UserSwap): PreviousSwap {
    const { poolAddress, user, time } = swap;
    const minute = startOf(time, MINUTE);
    const rows = this.#rows.get(poolAddress);
    const known = rows.users.get(user);
    const previous = known === undefined ? null : minuteOf(known);
    let left: string | null = null;
    for (let i = 0; i < this.#spans.length; i++) {
      const span = this.#spans[i] as Span;
      const start = startOf(time, span);
      let row = rows.current[i]?.row;
      if (row === undefined || row.start !== start) row = this.#open(rows, i, start);
      addSwap(row, swap);
      const previousStart = previous === null ? null : startOf(previous, span);
      if (previousStart === start) continue;
      row.lastSeenUsers += 1;
      if (previousStart === null || i < this.#firstKept) continue;
      const users = this.#leave(rows, i, previousStart).toString(16);
      left = left === null ? users : `${left} ${users}`;
    }
    // A row that told only some of its buckets would be read as one that tells all; final rows need not tell.
    if (!this.#isWhole) left = null;
    if (previous === minute) return { minute: previous, users: left };
    if (known === undefined) this.#noteStored(rows.hash, user);
    if (known === undefined || !isChanged(known)) this.#rows.changeUser(rows, user);
    rows.users.set(user, userOf(minute, 1));
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
  #leave(rows: PoolRows, span: number, start: number): number {
    const cached = this.#cached(rows, span, start);
    if (cached === undefined) return -1;
    const users = cached.row.lastSeenUsers;
    cached.row.lastSeenUsers = users - 1;
    this.#rows.changeRollup(rows, cached);
    return users;
  }

  /** The row of the bucket that swaps of the pool are added to from here on. */
  #open(rows: PoolRows, span: number, start: number): RollupRow {
    const cached = this.#cached(rows, span, start) ?? this.#begin(rows, span, start);
    this.#rows.changeRollup(rows, cached);
    rows.current[span] = cached;
    return cached.row;
  }

  /** A bucket without swaps: a pool's last minute in place of the one before, where no other is written. */
  #begin(rows: PoolRows, span: number, start: number): CachedRollup {
    const { poolAddress, lastMinute } = rows;
    const row = emptyRow(this.#chainId, { poolAddress, span: SPANS[span] as Span, start });
    if (span === 0 && lastMinute !== undefined) {
      Object.assign(lastMinute.row, row);
      return lastMinute;
    }
    const cached = { row, isChanged: false };
    this.#cache(rows, span, cached);
    return cached;
  }

  #cached(rows: PoolRows, span: number, start: number): CachedRollup | undefined {
    if (span >= this.#firstKept) return rows.rollups.get(rollupKey(span, start));
    return rows.lastMinute?.row.start === start ? rows.lastMinute : undefined;
  }

  #cache(rows: PoolRows, span: number, cached: CachedRollup): void {
    if (span >= this.#firstKept) rows.rollups.set(rollupKey(span, cached.row.start), cached);
    else rows.lastMinute = cached;
  }

  /** Returns the rows that changed since the last flush, by pool and user: the order of the pages that they go to. */
  flush(): { rollups: RollupRow[]; users: PoolUserRow[] } {
    const chainId = this.#chainId;
    const taken: { rollups: RollupRow[]; users: PoolUserRow[] } = { rollups: [], users: [] };
    for (const rows of this.#rows.changed()) {
      const { poolAddress, changedRollups, changedUsers } = rows;
      for (const cached of changedRollups) {
        cached.isChanged = false;
        taken.rollups.push(cached.row);
      }
      for (const user of changedUsers.sort()) {
        const lastMinute = minuteOf(rows.users.get(user) as number);
        rows.users.set(user, userOf(lastMinute, 0));
        taken.users.push({ chainId, poolAddress, user, lastMinute });
      }
    }
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

/** @param span its index */
function rollupKey(span: number, start: number): number {
  return (start / MINUTE) * 4 + span;
}

/** A user as PoolRows keeps it. */
function userOf(lastMinute: number, changed: 0 | 1): number {
  return (lastMinute / MINUTE) * 2 + changed;
}

function minuteOf(user: number): number {
  return (user >>> 1) * MINUTE;
}

function isChanged(user: number): boolean {
  return (user & 1) === 1;
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
