import { ADDRESS_WORDS, readAddress, writeAddress } from "./address-words.ts";
import { RecentTable } from "./recent-table.ts";

/** Most users kept in memory between writes, some 60 bytes each. */
const MAX_USERS = 80_000;
/** In place of the minute of a user who has not swapped in the pool. */
export const NEVER = -1;
/** A pool's number, then the user's address. */
const KEY_WORDS = 1 + ADDRESS_WORDS;

/** The users of a chain's pools that swapped lately, and in which minute they did; kept as RollupTable keeps its rows. */
export class UserTable {
  readonly #table = new RecentTable({ keyWords: KEY_WORDS, width: 1, most: MAX_USERS });
  /** The words of the user that was looked up last. */
  readonly words = this.#table.wanted.subarray(1);

  /** @param pool a number  @returns −1 where it is absent  @throws RangeError where the user is no address */
  find(pool: number, user: string): number {
    this.#want(pool, user);
    return this.#table.find();
  }

  /** Adds one that is absent. @param lastMinute or NEVER */
  add(pool: number, user: string, lastMinute: number): number {
    this.#want(pool, user);
    const row = this.#table.add();
    this.#table.values[row] = lastMinute;
    return row;
  }

  #want(pool: number, user: string): void {
    const { wanted } = this.#table;
    wanted[0] = pool;
    readUser(user, wanted, 1);
  }

  minuteOf(row: number): number {
    return this.#table.values[row] as number;
  }

  setMinute(row: number, lastMinute: number): void {
    this.#table.values[row] = lastMinute;
  }

  userOf(row: number): string {
    return writeAddress(this.#table.keys, KEY_WORDS * row + 1);
  }

  /** As RecentTable.change. */
  change(row: number, first: number): number {
    return this.#table.change(row, first);
  }

  /** Ends a list of changed rows; returns them in the order of their users. */
  takeChanged(first: number): number[] {
    const { keys } = this.#table;
    const at = (row: number) => KEY_WORDS * row + 1;
    return this.#table.takeChanged(first).sort((a, b) => compareWords(keys, at(a), at(b)));
  }

  age(): void {
    this.#table.age();
  }
}

/** The words of a swap's user go to `into`, from a place on. @throws RangeError where the user is no address */
export function readUser(user: string, into: Uint32Array, from: number): void {
  if (!readAddress(user, into, from)) throw new RangeError(`${user} swapped in a pool, and is no address.`);
}

/** The order of addresses is that of their words. */
function compareWords(words: Uint32Array, a: number, b: number): number {
  for (let i = 0; i < ADDRESS_WORDS; i++) {
    const difference = (words[a + i] as number) - (words[b + i] as number);
    if (difference !== 0) return difference;
  }
  return 0;
}
