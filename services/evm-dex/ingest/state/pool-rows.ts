import type { PoolUserRow, RollupRow } from "../../store/collections.ts";
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

/** What is cached of one pool. */
export interface PoolRows {
  /** Of the pool's address, for a PairFilter. */
  readonly hash: number;
  /** By start × 4 + index of the span. */
  readonly rollups: Generations<number, RollupRow>;
  readonly users: Generations<string, PoolUserRow>;
  /**
   * The rows that its last swap since the last `age` was added to, by index of the span. Most swaps of a batch are in the
   * minute of the pool's swap before: they find all three here.
   */
  current: (RollupRow | undefined)[];
}

/**
 * The rollups and users of a chain's pools that were used lately. One look-up by pool finds all of them: each one waits for
 * memory, and a swap needs several. Nothing is dropped but in `age`.
 */
export class RecentPoolRows {
  readonly #pools = new RecentMap<string, PoolRows>(MAX_POOLS);
  readonly #rollups = new Age(MAX_ROLLUPS);
  readonly #users = new Age(MAX_USERS);
  /** Pools whose `current` has rows. */
  readonly #used = new Set<PoolRows>();

  /** The rows of a pool, until `age`. */
  get(pool: string): PoolRows {
    const known = this.#pools.get(pool);
    if (known !== undefined) return known;
    const rows: PoolRows = {
      hash: hashOf(pool),
      rollups: new Generations(this.#rollups),
      users: new Generations(this.#users),
      current: [],
    };
    this.#pools.set(pool, rows);
    return rows;
  }

  setCurrent(rows: PoolRows, span: number, row: RollupRow): void {
    if (rows.current.length === 0) this.#used.add(rows);
    rows.current[span] = row;
  }

  /** Forgets all rows of a pool. */
  forget(pool: string): void {
    this.#pools.forget(pool);
  }

  /** Makes room; between two batches, when every row is written. */
  age(): void {
    // A row that is dropped may be loaded again as another object.
    for (const rows of this.#used) rows.current = [];
    this.#used.clear();
    this.#rollups.turn();
    this.#users.turn();
    this.#pools.age();
  }
}
