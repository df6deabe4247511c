import type { Names } from "../../price/names.ts";
import { hashWords, readAddress, ADDRESS_WORDS as WORDS, writeAddress } from "./address-words.ts";

const EMPTY = -1;
const FIRST_CAPACITY = 1_024;

/**
 * A set of addresses outside of the heap, each with a number: 20 bytes and a slot of 4 to 16, where a string in a Map
 * takes some 120. Open addressing with linear probing; the hash has a seed of the process, since whoever creates a pool
 * chooses its address.
 */
export class AddressTable implements Names {
  #size = 0;
  /** By number. */
  #words = new Uint32Array(WORDS * FIRST_CAPACITY);
  /** By hash: the number of an address. */
  #slots = new Int32Array(2 * FIRST_CAPACITY).fill(EMPTY);
  readonly #seed = Math.floor(Math.random() * 2 ** 32);
  /** The address that is looked up. */
  readonly #wanted = new Uint32Array(WORDS);

  get size(): number {
    return this.#size;
  }

  /** Makes room for so many addresses at once. */
  reserve(count: number): void {
    if (WORDS * count > this.#words.length) this.#growWords(count);
    let slots = this.#slots.length;
    while (4 * count > 3 * slots) slots *= 2;
    if (slots > this.#slots.length) this.#growSlots(slots);
  }

  /** The number of an address, −1 where it is absent; text that is no lower-case address is absent. */
  find(address: string): number {
    if (!readAddress(address, this.#wanted)) return EMPTY;
    return this.#slots[this.#slotOf(this.#wanted)] as number;
  }

  /** The number of an address, which is added if it is absent. @throws RangeError for other text. */
  add(address: string): number {
    if (!readAddress(address, this.#wanted)) throw new RangeError(`Cannot add ${address}: it is no address.`);
    let slot = this.#slotOf(this.#wanted);
    const known = this.#slots[slot] as number;
    if (known !== EMPTY) return known;
    if (4 * (this.#size + 1) > 3 * this.#slots.length) {
      this.#growSlots(2 * this.#slots.length);
      slot = this.#slotOf(this.#wanted);
    }
    if (WORDS * this.#size === this.#words.length) this.#growWords(Math.ceil(this.#size * 1.5));
    this.#words.set(this.#wanted, WORDS * this.#size);
    this.#slots[slot] = this.#size;
    this.#size += 1;
    return this.#size - 1;
  }

  nameOf(number: number): string {
    return writeAddress(this.#words, WORDS * number);
  }

  /** The order of texts is that of the numbers they write. */
  isBefore(number: number, other: number): boolean {
    for (let i = 0; i < WORDS; i++) {
      const word = this.#words[WORDS * number + i] as number;
      const otherWord = this.#words[WORDS * other + i] as number;
      if (word !== otherWord) return word < otherWord;
    }
    return false;
  }

  /** The last four bytes of an address: as good as random, and the same everywhere. */
  tailOf(number: number): number {
    return this.#words[WORDS * number + WORDS - 1] as number;
  }

  /** The slot that holds an address, or the empty one where it belongs. */
  #slotOf(words: Uint32Array, from = 0): number {
    const mask = this.#slots.length - 1;
    for (let slot = hashWords(this.#seed, words, from, WORDS) & mask; ; slot = (slot + 1) & mask) {
      const number = this.#slots[slot] as number;
      if (number === EMPTY || this.#isAt(number, words, from)) return slot;
    }
  }

  #isAt(number: number, words: Uint32Array, from: number): boolean {
    for (let i = 0; i < WORDS; i++) if (this.#words[WORDS * number + i] !== words[from + i]) return false;
    return true;
  }

  #growSlots(slots: number): void {
    this.#slots = new Int32Array(slots).fill(EMPTY);
    for (let number = 0; number < this.#size; number++)
      this.#slots[this.#slotOf(this.#words, WORDS * number)] = number;
  }

  #growWords(count: number): void {
    const words = new Uint32Array(WORDS * count);
    words.set(this.#words);
    this.#words = words;
  }
}
