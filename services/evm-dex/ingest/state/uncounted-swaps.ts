import { orderOf } from "../../../shared/storage/row-list.ts";
import { ADDRESS_WORDS, writeAddress } from "./address-words.ts";
import type { UserSwap } from "./bucket-book.ts";
import { readUser } from "./user-table.ts";

/** Of each: its pool, time, tick travel and user, then its value, fee and close price: 56 bytes. */
const WORDS = 3 + ADDRESS_WORDS;
const NUMBERS = 3;
const PIECE_BITS = 12;
const PIECE = 2 ** PIECE_BITS;

interface Piece {
  readonly words: Uint32Array;
  /** NaN in place of null. */
  readonly numbers: Float64Array;
}

/** A pool with swaps since the last time. */
interface SwappedPool {
  readonly poolAddress: string;
  /** Of its last event before the first of them, as of BucketBook.prepare. */
  readonly lastTime: number;
}

/**
 * Swaps that users and buckets do not have yet, outside of the heap: what a swap changes of these is looked up and counted when
 * it is written, a few pools at a time, so that a write may have any number of them (decision 147).
 */
export class UncountedSwaps {
  #pieces: Piece[] = [];
  #count = 0;
  #pools: SwappedPool[] = [];
  readonly #numbers = new Map<string, number>();
  /** Of the swaps that were counted last: after a backfill those of a block. */
  #free: Piece[] = [];

  /** Returns its number among those since the last time. @throws RangeError where the user is no address */
  add(
    { poolAddress, time, user, valueUsd, feeUsd, tickTravel, closePrice }: UserSwap,
    lastTime: number,
  ): number {
    const number = this.#count;
    if (number % PIECE === 0) this.#pieces.push(this.#free.pop() ?? emptyPiece());
    const { words, numbers } = this.#pieces[number >> PIECE_BITS] as Piece;
    const word = WORDS * (number % PIECE);
    words[word] = this.#numberOf(poolAddress, lastTime);
    words[word + 1] = time;
    words[word + 2] = tickTravel;
    readUser(user, words, word + 3);
    const at = NUMBERS * (number % PIECE);
    numbers[at] = valueUsd ?? Number.NaN;
    numbers[at + 1] = feeUsd ?? Number.NaN;
    numbers[at + 2] = closePrice;
    this.#count += 1;
    return number;
  }

  #numberOf(poolAddress: string, lastTime: number): number {
    const known = this.#numbers.get(poolAddress);
    if (known !== undefined) return known;
    const number = this.#pools.length;
    this.#numbers.set(poolAddress, number);
    this.#pools.push({ poolAddress, lastTime });
    return number;
  }

  /** The swaps since the last time. */
  take(): TakenSwaps {
    const pieces = this.#pieces;
    const taken = new TakenSwaps(pieces, {
      count: this.#count,
      pools: this.#pools,
      release: () => {
        this.#free = [...pieces];
      },
    });
    this.#pieces = [];
    this.#count = 0;
    this.#pools = [];
    this.#numbers.clear();
    return taken;
  }
}

export class TakenSwaps {
  readonly #pieces: readonly Piece[];
  readonly #pools: readonly SwappedPool[];
  readonly count: number;
  /** To be called once they are read no more. */
  readonly release: () => void;

  constructor(
    pieces: readonly Piece[],
    { count, pools, release }: { count: number; pools: readonly SwappedPool[]; release: () => void },
  ) {
    this.#pieces = pieces;
    this.count = count;
    this.#pools = pools;
    this.release = release;
  }

  /** Numbers of the swaps of each pool, as they came; pools by address. */
  *byPool(): Generator<SwappedPool & { readonly numbers: Uint32Array }> {
    // By pool: how many, then where they end, then where they begin.
    const places = new Uint32Array(this.#pools.length);
    for (let i = 0; i < this.count; i++) places[this.#poolOf(i)] = (places[this.#poolOf(i)] as number) + 1;
    for (let i = 1; i < places.length; i++) places[i] = (places[i] as number) + (places[i - 1] as number);
    const ends = places.slice();
    const numbers = new Uint32Array(this.count);
    for (let i = this.count - 1; i >= 0; i--) {
      const place = (places[this.#poolOf(i)] as number) - 1;
      places[this.#poolOf(i)] = place;
      numbers[place] = i;
    }
    for (const i of orderOf(this.#pools.map(({ poolAddress }) => poolAddress)))
      yield { ...(this.#pools[i] as SwappedPool), numbers: numbers.subarray(places[i], ends[i]) };
  }

  #poolOf(number: number): number {
    return (this.#pieces[number >> PIECE_BITS] as Piece).words[WORDS * (number % PIECE)] as number;
  }

  swapOf(number: number, poolAddress: string): UserSwap {
    const { words, numbers } = this.#pieces[number >> PIECE_BITS] as Piece;
    const word = WORDS * (number % PIECE);
    const at = NUMBERS * (number % PIECE);
    const [valueUsd, feeUsd] = [numbers[at] as number, numbers[at + 1] as number];
    return {
      poolAddress,
      user: writeAddress(words, word + 3),
      time: words[word + 1] as number,
      valueUsd: Number.isNaN(valueUsd) ? null : valueUsd,
      feeUsd: Number.isNaN(feeUsd) ? null : feeUsd,
      tickTravel: words[word + 2] as number,
      closePrice: numbers[at + 2] as number,
    };
  }
}

function emptyPiece(): Piece {
  return { words: new Uint32Array(WORDS * PIECE), numbers: new Float64Array(NUMBERS * PIECE) };
}
