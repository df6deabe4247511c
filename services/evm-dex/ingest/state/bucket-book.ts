import type { Store } from "../../../shared/storage/port.ts";
import type { RowList, Rows } from "../../../shared/storage/row-list.ts";
import { type BucketSwap, DAY, MINUTE, SPANS, type Span, startOf } from "../../metrics/bucket.ts";
import { type PoolUserRow, poolUsers, type RollupRow, rollups } from "../../store/collections.ts";
import { type BucketKey, getPoolUsers, getRollups, hasPoolUsers } from "../../store/queries.ts";
import type { Detail } from "./detail.ts";
import { PairFilter } from "./pair-filter.ts";
import { type PoolRows, RecentPoolRows } from "./pool-rows.ts";
import { NO_ROW } from "./recent-table.ts";
import { NEVER } from "./user-table.ts";

export interface UserSwap extends BucketSwap {
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

/** The rows that a book has changed. */
export interface CountedRows {
  readonly rollups: Rows<RollupRow>;
  readonly users: Rows<PoolUserRow>;
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
  readonly #rollups = this.#rows.rollups;
  readonly #users = this.#rows.users;
  /** What is taken at a flush, which may wait for its write while buckets change further. */
  readonly #takenRollups: RowList<RollupRow>;
  readonly #takenUsers: RowList<PoolUserRow>;
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
    this.#takenRollups = store.openRows(rollups, null);
    this.#takenUsers = store.openRows(poolUsers, null);
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
    const batch = ++this.#batch;
    const users: { poolAddress: string; user: string }[] = [];
    const buckets: BucketKey[] = [];
    const want = (rows: PoolRows, time: number, first = 0) => {
      const { poolAddress } = rows;
      let lastTime: number | undefined;
      for (let i = first; i < this.#spans.length; i++) {
        const span = this.#spans[i] as Span;
        const start = startOf(time, span);
        if (this.#find(rows, i, start) !== NO_ROW) continue;
        lastTime ??= lastTimeOf(poolAddress);
        if (start > lastTime) continue;
        buckets.push({ poolAddress, span, start });
        // Looked up once. A last minute has one row for all.
        if (i >= this.#firstKept) this.#rollups.addAbsent(rows.number, i, start);
      }
    };
    for (const { poolAddress, user, time } of swaps) {
      const minute = startOf(time, MINUTE);
      const rows = this.#rows.get(poolAddress);
      const left = this.#minuteOf(rows, user, users);
      if (left !== NEVER && left !== minute) want(rows, left, this.#firstKept);
      if (rows.preparedBatch === batch && rows.preparedMinute === minute) continue;
      rows.preparedBatch = batch;
      rows.preparedMinute = minute;
      want(rows, time);
    }
    for (const { poolAddress, user, lastMinute } of await getPoolUsers(this.#store, { chainId, users })) {
      const rows = this.#rows.get(poolAddress);
      this.#users.setMinute(this.#users.find(rows.number, user), lastMinute);
      want(rows, lastMinute, this.#firstKept);
    }
    for (const row of await getRollups(this.#store, { chainId, buckets })) {
      const span = SPANS.indexOf(row.span as Span);
      const rows = this.#rows.get(row.poolAddress);
      const noted = this.#find(rows, span, row.start);
      this.#rollups.set(noted === NO_ROW ? this.#begin(rows, span, row.start) : noted, row);
    }
  }

  /** The minute of a user's last swap in a pool; NEVER also where it is to be looked up: then the user is among `wanted`. */
  #minuteOf(rows: PoolRows, user: string, wanted: { poolAddress: string; user: string }[]): number {
    const known = this.#users.find(rows.number, user);
    if (known !== NO_ROW) return this.#users.minuteOf(known);
    const isNew = this.#stored instanceof PairFilter && !this.#stored.mayHave(rows.hash, this.#users.words);
    if (!isNew) wanted.push({ poolAddress: rows.poolAddress, user });
    this.#users.add(rows.number, user, NEVER);
    return NEVER;
  }

  /** Adds one swap; returns what is to be known of its user's previous one where this one is undone. */
  add(swap: UserSwap): PreviousSwap {
    const { poolAddress, user, time } = swap;
    const minute = startOf(time, MINUTE);
    const rows = this.#rows.get(poolAddress);
    const known = this.#users.find(rows.number, user);
    const last = known === NO_ROW ? NEVER : this.#users.minuteOf(known);
    const previous = last === NEVER ? null : last;
    let left: string | null = null;
    for (let i = 0; i < this.#spans.length; i++) {
      const span = this.#spans[i] as Span;
      const start = startOf(time, span);
      const previousStart = previous === null ? null : startOf(previous, span);
      this.#rollups.addSwap(this.#open(rows, i, start), swap, previousStart !== start);
      if (previousStart === null || previousStart === start || i < this.#firstKept) continue;
      const users = this.#leave(rows, i, previousStart).toString(16);
      left = left === null ? users : `${left} ${users}`;
    }
    // A row that told only some of its buckets would be read as one that tells all; final rows need not tell.
    if (!this.#isWhole) left = null;
    if (last !== minute) {
      const row = known === NO_ROW ? this.#users.add(rows.number, user, minute) : known;
      this.#users.setMinute(row, minute);
      this.#rows.changeUser(rows, row);
    }
    if (last === NEVER) this.#noteStored(rows);
    return { minute: previous, users: left };
  }

  /** Notes that the user who was looked up last will be stored. */
  #noteStored({ hash }: PoolRows): void {
    // What is added before it is asked whether the store is empty may be stored then.
    if (this.#stored === "unread") this.#stored = undefined;
    this.#stored?.add(hash, this.#users.words);
  }

  /**
   * Takes a user out of a stored bucket, and returns how many it had; -1 for one that retention has removed
   * (ingest/retention/): it stays removed.
   */
  #leave(rows: PoolRows, span: number, start: number): number {
    const row = this.#find(rows, span, start);
    if (row === NO_ROW || this.#rollups.isAbsent(row)) return -1;
    this.#rows.changeRollup(rows, row);
    return this.#rollups.removeUser(row);
  }

  /** The row of the bucket that swaps of the pool are added to from here on. */
  #open(rows: PoolRows, span: number, start: number): number {
    const current = rows.current[span] as number;
    if (current !== NO_ROW && this.#rollups.startOf(current) === start) return current;
    const found = this.#find(rows, span, start);
    const row = found === NO_ROW ? this.#begin(rows, span, start) : found;
    if (this.#rollups.isAbsent(row)) this.#rollups.begin(row, start);
    this.#rows.changeRollup(rows, row);
    rows.current[span] = row;
    return row;
  }

  /** A bucket without swaps: a pool's last minute in place of the one before, where no other is written. */
  #begin({ number }: PoolRows, span: number, start: number): number {
    if (span >= this.#firstKept) return this.#rollups.add(number, span, start);
    const before = this.#rollups.findLastMinute(number);
    if (before === NO_ROW) return this.#rollups.addLastMinute(number, start);
    this.#rollups.begin(before, start);
    return before;
  }

  #find({ number }: PoolRows, span: number, start: number): number {
    if (span >= this.#firstKept) return this.#rollups.find(number, span, start);
    const row = this.#rollups.findLastMinute(number);
    return row !== NO_ROW && this.#rollups.startOf(row) === start ? row : NO_ROW;
  }

  /**
   * Adds the rows that changed since the last time to what is flushed, by pool and user; keeps few of them in memory. Between two
   * flushes pools come in the order of their addresses: it is that of the pages that rows go to.
   */
  collect(): void {
    const chainId = this.#chainId;
    for (const { poolAddress, changedRollup, changedUser } of this.#rows.changed()) {
      for (const row of this.#rollups.takeChanged(changedRollup))
        this.#takenRollups.add(this.#rollups.toRow(row, { chainId, poolAddress }));
      for (const row of this.#users.takeChanged(changedUser)) {
        const [user, lastMinute] = [this.#users.userOf(row), this.#users.minuteOf(row)];
        this.#takenUsers.add({ chainId, poolAddress, user, lastMinute });
      }
    }
    this.#rows.age();
    if (this.#stored instanceof PairFilter && this.#stored.count > MOST_PAIRS) this.#stored = undefined;
  }

  /** Returns the rows that changed since the last flush. */
  flush(): CountedRows {
    this.collect();
    return { rollups: this.#takenRollups.take(), users: this.#takenUsers.take() };
  }

  /** Forgets the rows of pools that another writer has changed in the store, as a rollback does. */
  forget(pools: readonly string[]): void {
    if (pools.length > 0) this.#stored = undefined;
    for (const pool of pools) this.#rows.forget(pool);
  }
}
