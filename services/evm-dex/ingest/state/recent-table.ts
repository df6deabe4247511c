import { hashWords } from "./address-words.ts";

/** In place of a row. */
export const NO_ROW = -1;
const FIRST_ROWS = 1_024;

/**
 * Rows of numbers by a key of a few words that keeps those used lately, outside of the heap: as objects in maps they took
 * four times as much, and the collector marked them again and again. Two generations as RecentMap; nothing is dropped but in
 * `age`. Open addressing with linear probing; the hash has a seed of the process, since others choose what keys are made of.
 */
export class RecentTable {
  readonly #keyWords: number;
  readonly #width: number;
  readonly #most: number;
  readonly #seed = Math.floor(Math.random() * 2 ** 32);
  /** The key that is looked up. */
  readonly wanted: Uint32Array;
  #keys: Uint32Array;
  #values: Float64Array;
  /** By row, the generation that it was used in last. */
  #usedIn = new Uint8Array(FIRST_ROWS);
  /** By row, what follows in its list of changed rows: 0 where it is in none, 1 for nothing, else a row, plus 2. */
  #next = new Int32Array(FIRST_ROWS);
  /** By hash: a row. */
  #slots = new Int32Array(2 * FIRST_ROWS).fill(NO_ROW);
  #generation: 0 | 1 = 0;
  /** Rows used in this generation, and all of them. */
  #used = 0;
  #size = 0;

  /**
   * @param keyWords words of a key
   * @param width numbers of a row
   * @param most rows kept, but for those between two calls of `age`
   */
  constructor({ keyWords, width, most }: { keyWords: number; width: number; most: number }) {
    this.#keyWords = keyWords;
    this.#width = width;
    this.#most = most;
    this.wanted = new Uint32Array(keyWords);
    this.#keys = new Uint32Array(keyWords * FIRST_ROWS);
    this.#values = new Float64Array(width * FIRST_ROWS);
  }

  /** Keys by row, until the next `add` or `age`. */
  get keys(): Uint32Array {
    return this.#keys;
  }

  /** Numbers by row, until the next `add` or `age`. */
  get values(): Float64Array {
    return this.#values;
  }

  /** The row of the wanted key, −1 where it is absent. */
  find(): number {
    const row = this.#slots[this.#slotOf(this.wanted, 0)] as number;
    if (row !== NO_ROW && this.#usedIn[row] !== this.#generation) {
      this.#usedIn[row] = this.#generation;
      this.#used += 1;
    }
    return row;
  }

  /** Adds a row of zeros for the wanted key, which must be absent. */
  add(): number {
    const row = this.#size;
    if (row === this.#usedIn.length) this.#growRows(Math.ceil(1.5 * row));
    if (4 * (row + 1) > 3 * this.#slots.length) this.#fillSlots(2 * this.#slots.length);
    this.#slots[this.#slotOf(this.wanted, 0)] = row;
    this.#keys.set(this.wanted, this.#keyWords * row);
    this.#values.fill(0, this.#width * row, this.#width * (row + 1));
    this.#usedIn[row] = this.#generation;
    this.#used += 1;
    this.#size += 1;
    return row;
  }

  /**
   * Puts a row before a list of changed ones, unless it is in one.
   * @param first the list's first row, −1 where it is empty
   * @returns the first one after it
   */
  change(row: number, first: number): number {
    if (this.#next[row] !== 0) return first;
    this.#next[row] = first + 2;
    return row;
  }

  /** Ends a list of changed rows, and returns them. */
  takeChanged(first: number): number[] {
    const rows: number[] = [];
    for (let row = first; row >= 0; ) {
      rows.push(row);
      const next = this.#next[row] as number;
      this.#next[row] = 0;
      row = next - 2;
    }
    return rows;
  }

  /**
   * Begins another generation where half of what may be kept was used in this one: what was not goes. Rows have other
   * numbers after it. None may be in a list of changed ones. What was used stays, however much it is: its write may be under way,
   * and the store does not have it yet.
   * @param onMove is told of each row that stays: `to` is its number from now on, and not above `from`
   * @returns how many rows there are now
   */
  age(onMove?: (from: number, to: number) => void): number {
    if (this.#used < this.#most / 2) return this.#size;
    let kept = 0;
    for (let row = 0; row < this.#size; row++) {
      if (this.#usedIn[row] !== this.#generation) continue;
      if (kept !== row) this.#move(row, kept);
      onMove?.(row, kept);
      kept += 1;
    }
    this.#size = kept;
    this.#usedIn.fill(this.#generation, 0, kept);
    this.#generation = this.#generation === 0 ? 1 : 0;
    this.#used = 0;
    this.#fillSlots(this.#slots.length);
    return kept;
  }

  #move(from: number, to: number): void {
    const [words, width] = [this.#keyWords, this.#width];
    this.#keys.copyWithin(words * to, words * from, words * (from + 1));
    this.#values.copyWithin(width * to, width * from, width * (from + 1));
  }

  /** The slot of a key, or the empty one where it belongs. */
  #slotOf(words: Uint32Array, from: number): number {
    const mask = this.#slots.length - 1;
    for (let slot = hashWords(this.#seed, words, from, this.#keyWords) & mask; ; slot = (slot + 1) & mask) {
      const row = this.#slots[slot] as number;
      if (row === NO_ROW || this.#isAt(row, words, from)) return slot;
    }
  }

  #isAt(row: number, words: Uint32Array, from: number): boolean {
    const at = this.#keyWords * row;
    for (let i = 0; i < this.#keyWords; i++) if (this.#keys[at + i] !== words[from + i]) return false;
    return true;
  }

  #fillSlots(length: number): void {
    if (this.#slots.length === length) this.#slots.fill(NO_ROW);
    else this.#slots = new Int32Array(length).fill(NO_ROW);
    for (let row = 0; row < this.#size; row++)
      this.#slots[this.#slotOf(this.#keys, this.#keyWords * row)] = row;
  }

  #growRows(count: number): void {
    const [keys, values, usedIn, next] = [this.#keys, this.#values, this.#usedIn, this.#next];
    this.#keys = new Uint32Array(this.#keyWords * count);
    this.#keys.set(keys);
    this.#values = new Float64Array(this.#width * count);
    this.#values.set(values);
    this.#usedIn = new Uint8Array(count);
    this.#usedIn.set(usedIn);
    this.#next = new Int32Array(count);
    this.#next.set(next);
  }
}
