import { compareTexts } from "../../../shared/storage/row-list.ts";
import type { RollupRow } from "../../store/collections.ts";
import { hashOf } from "./pair-filter.ts";
import { RecentMap } from "./recent-map.ts";

/** Most rows kept in memory between writes, some 200 bytes each, and pools that they are of. */
const MAX_ROLLUPS = 80_000;
const MAX_USERS = 80_000;
const MAX_POOLS = 24_000;

/** The generation of all pools' rows of one kind, and how many rows are of it. */
class Age {
  readonly #most: number;
  generation = 0;
  count = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Begins another generation where the present one has half of all that may be kept. */
  turn(): void {
    if (this.count < this.#most / 2) return;
    this.generation += 1;
    this.count = 0;
  }
}

/** One pool's rows of one kind by key: those used in this generation, and those used in the one before. */
class Generations<K, V> {
  readonly #age: Age;
  #young: Map<K, V> | undefined;
  #old: Map<K, V> | undefined;
  #generation: number;

  constructor(age: Age) {
    this.#age = age;
    this.#generation = age.generation;
  }

  get(key: K): V | undefined {
    this.#turn();
    const young = this.#young?.get(key);
    if (young !== undefined || this.#old === undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: K, row: V): void {
    this.#turn();
    this.#young ??= new Map();
    const before = this.#young.size;
    this.#young.set(key, row);
    this.#age.count += this.#young.size - before;
  }

  #turn(): void {
    const { generation } = this.#age;
    if (this.#generation === generation) return;
    this.#old = this.#generation === generation - 1 ? this.#young : undefined;
    this.#young = undefined;
    this.#generation = generation;
  }
}

/** A row, and whether it has changed since the last flush. */
export interface CachedRollup {
  readonly row: RollupRow;
  isChanged: boolean;
}

/** What is cached of one pool. */
export interface PoolRows {
  readonly poolAddress: string;
  /** Of its address, for a PairFilter. */
  readonly hash: number;
  /** By minutes of the start × 4 + index of the span: small numbers, which a map need not keep as objects. */
  readonly rollups: Generations<number, CachedRollup>;
  /** In place of all minutes, where only the last one is written: one object for all of them. */
  lastMinute: CachedRollup | undefined;
  /** The minutes of a user's last swap × 2, and 1 more where that has changed since the last flush: a row would be an object. */
  readonly users: Generations<string, number>;
  readonly changedRollups: CachedRollup[];
  readonly changedUsers: string[];
  /**
   * The rows that its last swap since the last `age` was added to, by index of the span. Most swaps of a batch are in the
   * minute of the pool's swap before: they find all three here.
   */
  readonly current: CachedRollup[];
  /** Of the last batch that was prepared with a swap of it: which one, and the minute of the last one so far. */
  prepared: { batch: number; minute: number };
}

/**
 * The rollups and users of a chain's pools that were used lately. One look-up by pool finds all of them: each one waits for
 * memory, and a swap needs several. Nothing is dropped but in `age`.
 */
export class RecentPoolRows {
  readonly #pools = new RecentMap<string, PoolRows>(MAX_POOLS);
  readonly #rollups = new Age(MAX_ROLLUPS);
  readonly #users = new Age(MAX_USERS);
  /** Pools with changed rows. */
  #changed: PoolRows[] = [];

  /** The rows of a pool, until `age`. */
  get(pool: string): PoolRows {
    const known = this.#pools.get(pool);
    if (known !== undefined) return known;
    const rows: PoolRows = {
      poolAddress: pool,
      hash: hashOf(pool),
      rollups: new Generations(this.#rollups),
      lastMinute: undefined,
      users: new Generations(this.#users),
      changedRollups: [],
      changedUsers: [],
      current: [],
      prepared: { batch: 0, minute: 0 },
    };
    this.#pools.set(pool, rows);
    return rows;
  }

  /** The row is to be written. */
  changeRollup(rows: PoolRows, cached: CachedRollup): void {
    if (cached.isChanged) return;
    cached.isChanged = true;
    this.#change(rows);
    rows.changedRollups.push(cached);
  }

  changeUser(rows: PoolRows, user: string): void {
    this.#change(rows);
    rows.changedUsers.push(user);
  }

  #change(rows: PoolRows): void {
    if (rows.changedRollups.length === 0 && rows.changedUsers.length === 0) this.#changed.push(rows);
  }

  /** Pools with rows to be written, by address; until `age`. */
  changed(): readonly PoolRows[] {
    return this.#changed.sort((a, b) => compareTexts(a.poolAddress, b.poolAddress));
  }

  /** Forgets all rows of a pool. */
  forget(pool: string): void {
    this.#pools.forget(pool);
  }

  /** Notes that all is written, and makes room; between two batches. */
  age(): void {
    for (const rows of this.#changed) {
      rows.changedRollups.length = 0;
      rows.changedUsers.length = 0;
      // A row that is dropped may be loaded again as another object.
      rows.current.length = 0;
    }
    this.#changed = [];
    this.#rollups.turn();
    this.#users.turn();
    this.#pools.age();
  }
}
