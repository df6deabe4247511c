import { compareTexts } from "../../../shared/storage/row-list.ts";
import { hashOf } from "./pair-filter.ts";
import { RecentMap } from "./recent-map.ts";
import { NO_ROW } from "./recent-table.ts";
import { RollupTable } from "./rollup-table.ts";
import { UserTable } from "./user-table.ts";

/** Most pools whose rows are kept in memory between writes. */
const MAX_POOLS = 24_000;

/** What is cached of one pool; rows are numbers of the tables. */
export interface PoolRows {
  readonly poolAddress: string;
  /** In the tables' keys; not used again, so that what is left of a pool that was forgotten is not found. */
  readonly number: number;
  /** Of its address, for a PairFilter. */
  readonly hash: number;
  /** The first of its changed rows. */
  changedRollup: number;
  changedUser: number;
  /**
   * The rows that its last swap since the last `age` was added to, by index of the span. Most swaps of a batch are in the
   * minute of the pool's swap before: they find all three here.
   */
  readonly current: number[];
  /** Of the last batch that was prepared with a swap of it: which one, and the minute of the last one so far. */
  preparedBatch: number;
  preparedMinute: number;
}

/** The rollups and users of a chain's pools that were used lately. Nothing is dropped but in `age`. */
export class RecentPoolRows {
  readonly #pools = new RecentMap<string, PoolRows>(MAX_POOLS);
  readonly rollups = new RollupTable();
  readonly users = new UserTable();
  #added = 0;
  /** Pools with changed rows. */
  #changed: PoolRows[] = [];

  /** The rows of a pool, until `age`. */
  get(pool: string): PoolRows {
    const known = this.#pools.get(pool);
    if (known !== undefined) return known;
    const rows: PoolRows = {
      poolAddress: pool,
      number: this.#added++,
      hash: hashOf(pool),
      changedRollup: NO_ROW,
      changedUser: NO_ROW,
      current: [NO_ROW, NO_ROW, NO_ROW],
      preparedBatch: 0,
      preparedMinute: 0,
    };
    this.#pools.set(pool, rows);
    return rows;
  }

  /** The row is to be written. */
  changeRollup(rows: PoolRows, row: number): void {
    this.#change(rows);
    rows.changedRollup = this.rollups.change(row, rows.changedRollup);
  }

  changeUser(rows: PoolRows, row: number): void {
    this.#change(rows);
    rows.changedUser = this.users.change(row, rows.changedUser);
  }

  #change(rows: PoolRows): void {
    if (rows.changedRollup === NO_ROW && rows.changedUser === NO_ROW) this.#changed.push(rows);
  }

  /** Pools with rows to be written, by address; until `age`. */
  changed(): readonly PoolRows[] {
    return this.#changed.sort((a, b) => compareTexts(a.poolAddress, b.poolAddress));
  }

  /** Forgets all rows of a pool. */
  forget(pool: string): void {
    this.#pools.forget(pool);
  }

  /** Notes that all is taken, and makes room; between two batches. */
  age(): void {
    for (const rows of this.#changed) {
      rows.changedRollup = NO_ROW;
      rows.changedUser = NO_ROW;
      // Rows have other numbers after this.
      rows.current.fill(NO_ROW);
    }
    this.#changed = [];
    this.rollups.age();
    this.users.age();
    this.#pools.age();
  }
}
