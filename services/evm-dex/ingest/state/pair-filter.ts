import { fnv1a } from "../../../shared/fnv1a.ts";
import { hashWords } from "./address-words.ts";

/** 4 MB: of ten million pairs a quarter of the others seem to be in it, of three million one in fifty. */
const WORDS = 2 ** 20;
/** A line of the processor's cache: all bits of a pair are in one. */
const LINE_WORDS = 16;
const LINE_BITS = 32 * LINE_WORDS;

/**
 * A set of pairs of pool and user that may hold more than were added, never less: a Bloom filter outside of the heap, which
 * takes memory as it fills. Whoever chooses addresses so that others seem to be in it gains nothing: these are looked up.
 */
export class PairFilter {
  readonly #words: Uint32Array;
  #count = 0;

  /** @param words a power of two, for tests */
  constructor(words = WORDS) {
    this.#words = new Uint32Array(words);
  }

  /** Pairs that were added and did not seem to be in it. */
  get count(): number {
    return this.#count;
  }

  /** @param pool hashOf the pool  @param user words of an address */
  add(pool: number, user: Uint32Array): void {
    if (this.#visit(pool, user, true)) this.#count += 1;
  }

  /** False: the pair was not added. */
  mayHave(pool: number, user: Uint32Array): boolean {
    return !this.#visit(pool, user, false);
  }

  /** Whether a bit of the pair is missing; then it is set, if it is to be. */
  #visit(pool: number, user: Uint32Array, isAdded: boolean): boolean {
    const place = hashWords(pool, user, 0, user.length);
    const bits = hashWords(~pool, user, 0, user.length);
    const line = LINE_WORDS * (place & (this.#words.length / LINE_WORDS - 1));
    // Nine bits name one of a line: three times of one hash, once of what is left of the other.
    let isMissing = false;
    for (let i = 0; i < 4; i++) {
      const bit = (i === 3 ? place >>> 23 : bits >>> (9 * i)) % LINE_BITS;
      const word = line + (bit >>> 5);
      const mask = 1 << (bit & 31);
      if (((this.#words[word] as number) & mask) !== 0) continue;
      isMissing = true;
      if (!isAdded) break;
      this.#words[word] = (this.#words[word] as number) | mask;
    }
    return isMissing;
  }
}

export function hashOf(text: string): number {
  return mixed(fnv1a(text));
}

/** Every bit of the number changes half of the bits of the result (MurmurHash3's end). */
function mixed(value: number): number {
  let hash = value ^ (value >>> 16);
  hash = Math.imul(hash, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
