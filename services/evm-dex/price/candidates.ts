import { larger } from "./larger-array.ts";

const NONE = -1;
const FIRST_CAPACITY = 4_096;

/**
 * Tokens by the width of their widest path so far, in a binary heap: the widest first, then the lower pool address.
 * Uses typed arrays, since the walk pushes and pops tens of thousands.
 */
export class Candidates {
  #arc = new Int32Array(FIRST_CAPACITY);
  #width = new Float64Array(FIRST_CAPACITY);
  #size = 0;
  readonly #pools: readonly string[];

  /** @param pools addresses by edge, where arc = 2 × edge + side */
  constructor(pools: readonly string[]) {
    this.#pools = pools;
  }

  /** @param arc the last of the path; its other end is the token reached */
  push(arc: number, width: number): void {
    if (this.#size === this.#arc.length) this.#grow();
    let at = this.#size++;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (!this.#isAbove({ arc, width }, above)) break;
      this.#move(above, at);
      at = above;
    }
    this.#arc[at] = arc;
    this.#width[at] = width;
  }

  /** The arc of the widest path, or −1. */
  pop(): number {
    if (this.#size === 0) return NONE;
    const best = this.#arc[0] as number;
    const size = --this.#size;
    const last = { arc: this.#arc[size] as number, width: this.#width[size] as number };
    let at = 0;
    for (let child = 1; child < size; child = 2 * at + 1) {
      if (child + 1 < size && this.#isAbove(this.#at(child + 1), child)) child += 1;
      if (this.#isAbove(last, child)) break;
      this.#move(child, at);
      at = child;
    }
    this.#arc[at] = last.arc;
    this.#width[at] = last.width;
    return best;
  }

  clear(): void {
    this.#size = 0;
  }

  #at(place: number): { arc: number; width: number } {
    return { arc: this.#arc[place] as number, width: this.#width[place] as number };
  }

  #move(from: number, to: number): void {
    this.#arc[to] = this.#arc[from] as number;
    this.#width[to] = this.#width[from] as number;
  }

  #isAbove({ arc, width }: { arc: number; width: number }, place: number): boolean {
    const other = this.#width[place] as number;
    if (width !== other) return width > other;
    return this.#pool(arc) < this.#pool(this.#arc[place] as number);
  }

  #pool(arc: number): string {
    return this.#pools[arc >> 1] as string;
  }

  #grow(): void {
    const capacity = 2 * this.#arc.length;
    this.#arc = larger(this.#arc, new Int32Array(capacity));
    this.#width = larger(this.#width, new Float64Array(capacity));
  }
}
