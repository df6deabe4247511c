import { addSwap, type Bucket, type BucketSwap, emptyBucket, MINUTE, SPANS } from "../../metrics/bucket.ts";
import type { RollupRow } from "../../store/collections.ts";
import { RecentTable } from "./recent-table.ts";

/** Most rollups kept in memory between writes, some 120 bytes each. */
const MAX_ROLLUPS = 80_000;
/** Numbers of a row: its bucket's, of which this is the last, then its start. */
const LAST_SEEN_USERS = 7;
const START = 8;
const WIDTH = 9;
/** The key of a pool's last minute where only this one is written: minutes since 1970 are later. */
const LAST_MINUTE = 0;

/**
 * The rollups of a chain's pools that were used lately, outside of the heap. A row is named by its number, which is good until
 * `age`.
 */
export class RollupTable {
  readonly #table = new RecentTable({ keyWords: 2, width: WIDTH, most: MAX_ROLLUPS });
  /** The row that is changed. */
  readonly #bucket = emptyBucket();

  /** @param pool a number  @param span its index  @returns −1 where it is absent */
  find(pool: number, span: number, start: number): number {
    return this.#find(pool, rollupKey(span, start));
  }

  /** The one minute of a pool that is kept, where others are not. */
  findLastMinute(pool: number): number {
    return this.#find(pool, LAST_MINUTE);
  }

  #find(pool: number, key: number): number {
    this.#want(pool, key);
    return this.#table.find();
  }

  /** Adds an empty one that is absent. */
  add(pool: number, span: number, start: number): number {
    return this.#add(pool, rollupKey(span, start), start);
  }

  /** Notes that a bucket is not stored, until it is found to be, or begins. */
  addAbsent(pool: number, span: number, start: number): void {
    const row = this.add(pool, span, start);
    this.#table.values[WIDTH * row + LAST_SEEN_USERS] = Number.NaN;
  }

  isAbsent(row: number): boolean {
    return Number.isNaN(this.#table.values[WIDTH * row + LAST_SEEN_USERS]);
  }

  addLastMinute(pool: number, start: number): number {
    return this.#add(pool, LAST_MINUTE, start);
  }

  #add(pool: number, key: number, start: number): number {
    this.#want(pool, key);
    const row = this.#table.add();
    this.#table.values[WIDTH * row + START] = start;
    return row;
  }

  #want(pool: number, key: number): void {
    const { wanted } = this.#table;
    wanted[0] = pool;
    wanted[1] = key;
  }

  startOf(row: number): number {
    return this.#table.values[WIDTH * row + START] as number;
  }

  /** Makes an empty bucket of another one. Whether it has changed stays. */
  begin(row: number, start: number): void {
    const at = WIDTH * row;
    this.#table.values.fill(0, at, at + START);
    this.#table.values[at + START] = start;
  }

  /** Takes the numbers of a bucket that was read. */
  set(row: number, bucket: Readonly<Bucket>): void {
    write(this.#table.values, WIDTH * row, bucket);
  }

  /** @param isNewUser whether its user was not seen in this bucket */
  addSwap(row: number, swap: BucketSwap, isNewUser: boolean): void {
    const { values } = this.#table;
    const at = WIDTH * row;
    read(values, at, this.#bucket);
    addSwap(this.#bucket, swap);
    if (isNewUser) this.#bucket.lastSeenUsers += 1;
    write(values, at, this.#bucket);
  }

  /** Takes a user out of a bucket; returns how many it had. */
  removeUser(row: number): number {
    const { values } = this.#table;
    const at = WIDTH * row + LAST_SEEN_USERS;
    const users = values[at] as number;
    values[at] = users - 1;
    return users;
  }

  /** As RecentTable.change. */
  change(row: number, first: number): number {
    return this.#table.change(row, first);
  }

  /** Ends a list of changed rows; returns them in the order of their key. */
  takeChanged(first: number): number[] {
    const spanOf = (row: number) => this.#spanOf(row);
    return this.#table
      .takeChanged(first)
      .sort((a, b) => spanOf(a) - spanOf(b) || this.startOf(a) - this.startOf(b));
  }

  /** Its index. */
  #spanOf(row: number): number {
    return (this.#table.keys[2 * row + 1] as number) & 3;
  }

  toRow(row: number, { chainId, poolAddress }: { chainId: number; poolAddress: string }): RollupRow {
    const span = SPANS[this.#spanOf(row)] as number;
    read(this.#table.values, WIDTH * row, this.#bucket);
    const { swapCount, volumeUsd, feesUsd, unpricedCount, unpricedFeeCount } = this.#bucket;
    const { tickTravel, closePrice, lastSeenUsers } = this.#bucket;
    return {
      chainId,
      poolAddress,
      span,
      start: this.startOf(row),
      swapCount,
      volumeUsd,
      feesUsd,
      unpricedCount,
      unpricedFeeCount,
      tickTravel,
      closePrice,
      lastSeenUsers,
    };
  }

  /** Makes room; no row may be changed and not taken. */
  age(): void {
    this.#table.age();
  }
}

/** A bucket among those of a pool. @param span its index */
function rollupKey(span: number, start: number): number {
  return (start / MINUTE) * 4 + span;
}

function read(values: Float64Array, at: number, into: Bucket): void {
  into.swapCount = values[at] as number;
  into.volumeUsd = values[at + 1] as number;
  into.feesUsd = values[at + 2] as number;
  into.unpricedCount = values[at + 3] as number;
  into.unpricedFeeCount = values[at + 4] as number;
  into.tickTravel = values[at + 5] as number;
  into.closePrice = values[at + 6] as number;
  into.lastSeenUsers = values[at + LAST_SEEN_USERS] as number;
}

function write(values: Float64Array, at: number, bucket: Readonly<Bucket>): void {
  values[at] = bucket.swapCount;
  values[at + 1] = bucket.volumeUsd;
  values[at + 2] = bucket.feesUsd;
  values[at + 3] = bucket.unpricedCount;
  values[at + 4] = bucket.unpricedFeeCount;
  values[at + 5] = bucket.tickTravel;
  values[at + 6] = bucket.closePrice;
  values[at + LAST_SEEN_USERS] = bucket.lastSeenUsers;
}
