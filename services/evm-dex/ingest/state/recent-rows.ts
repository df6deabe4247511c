import { ADDRESS_WORDS, readAddress } from "./address-words.ts";
import { RecentMap } from "./recent-map.ts";
import { NO_ROW, RecentTable } from "./recent-table.ts";

/** Most pools with rows. */
const MAX_POOLS = 24_000;

/**
 * A cache of objects by pool and key that keeps those used lately, in two generations as RecentTable: a map of each pool
 * would take more memory than the few objects in it. Keys are addresses or whole numbers below 2^32.
 */
export class RecentRows<K extends string | number, V> {
  readonly #table: RecentTable;
  /** By row of the table. */
  readonly #values: V[] = [];
  readonly #pools = new RecentMap<string, number>(MAX_POOLS);
  #added = 0;

  /** @param most rows kept, but for those of one batch  @param keys what they are of */
  constructor(most: number, keys: K extends string ? "addresses" : "numbers") {
    this.#table = new RecentTable({ keyWords: 1 + (keys === "numbers" ? 1 : ADDRESS_WORDS), width: 0, most });
  }

  get(pool: string, key: K): V | undefined {
    this.#want(pool, key);
    const row = this.#table.find();
    return row === NO_ROW ? undefined : this.#values[row];
  }

  set(pool: string, key: K, value: V): void {
    this.#want(pool, key);
    const known = this.#table.find();
    this.#values[known === NO_ROW ? this.#table.add() : known] = value;
  }

  #want(pool: string, key: K): void {
    const { wanted } = this.#table;
    let number = this.#pools.get(pool);
    if (number === undefined) {
      number = this.#added++;
      this.#pools.set(pool, number);
    }
    wanted[0] = number;
    if (typeof key === "number") wanted[1] = key;
    else if (!readAddress(key, wanted, 1)) throw new RangeError(`${key} is no address.`);
  }

  /** Forgets all rows of a pool: it gets another number, by which they are not found. */
  forget(pool: string): void {
    this.#pools.forget(pool);
  }

  /** Makes room; between two batches, when every row is written. */
  age(): void {
    this.#values.length = this.#table.age((from, to) => {
      this.#values[to] = this.#values[from] as V;
    });
    this.#pools.age();
  }
}
