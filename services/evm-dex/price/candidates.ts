const NONE = -1;
const FIRST_CAPACITY = 4_096;

/** A path over one more pool than one that is known. */
export interface Candidate {
  /** Its last arc, and the path that it extends. */
  readonly arc: number;
  readonly parent: number;
  readonly width: number;
  readonly tie: number;
}

/** Decides equal widths: fewer detours first, then fewer hops. */
export function tieOf(detours: number, hops: number): number {
  return detours * 256 + hops;
}

export function hopsOf(tie: number): number {
  return tie & 255;
}

export function detoursOf(tie: number): number {
  return tie >> 8;
}

/**
 * Candidate paths of the walk, by number, in a binary heap: the best first, by width, then tie, then pool address.
 * Uses typed arrays, since the walk pushes and pops tens of thousands.
 */
export class Candidates {
  arc = new Int32Array(FIRST_CAPACITY);
  parent = new Int32Array(FIRST_CAPACITY);
  width = new Float64Array(FIRST_CAPACITY);
  tie = new Int32Array(FIRST_CAPACITY);
  #added = 0;
  #heap = new Int32Array(FIRST_CAPACITY);
  #size = 0;
  readonly #pools: readonly string[];

  /** @param pools addresses by edge, where arc = 2 × edge + side */
  constructor(pools: readonly string[]) {
    this.#pools = pools;
  }

  /** Returns the number of the candidate, which is valid until `clear`. */
  push(candidate: Candidate): number {
    const id = this.#added++;
    if (id === this.arc.length) this.#grow();
    this.arc[id] = candidate.arc;
    this.parent[id] = candidate.parent;
    this.width[id] = candidate.width;
    this.tie[id] = candidate.tie;
    const heap = this.#heap;
    let at = this.#size++;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const other = heap[above] as number;
      if (!this.#isAbove(id, other)) break;
      heap[at] = other;
      at = above;
    }
    heap[at] = id;
    return id;
  }

  /** The number of the best candidate, or −1. */
  pop(): number {
    if (this.#size === 0) return NONE;
    const heap = this.#heap;
    const best = heap[0] as number;
    const last = heap[--this.#size] as number;
    const size = this.#size;
    let at = 0;
    for (let child = 1; child < size; child = 2 * at + 1) {
      let id = heap[child] as number;
      if (child + 1 < size && this.#isAbove(heap[child + 1] as number, id)) id = heap[++child] as number;
      if (!this.#isAbove(id, last)) break;
      heap[at] = id;
      at = child;
    }
    heap[at] = last;
    return best;
  }

  /** Forgets all numbers. */
  clear(): void {
    this.#added = 0;
    this.#size = 0;
  }

  isBetter(candidate: Candidate, other: number): boolean {
    const width = this.width[other] as number;
    if (candidate.width !== width) return candidate.width > width;
    const tie = this.tie[other] as number;
    if (candidate.tie !== tie) return candidate.tie < tie;
    return this.#pool(candidate.arc) < this.#pool(this.arc[other] as number);
  }

  #isAbove(a: number, b: number): boolean {
    const widthA = this.width[a] as number;
    const widthB = this.width[b] as number;
    if (widthA !== widthB) return widthA > widthB;
    const earlier = (this.tie[a] as number) - (this.tie[b] as number);
    if (earlier !== 0) return earlier < 0;
    return this.#pool(this.arc[a] as number) < this.#pool(this.arc[b] as number);
  }

  #pool(arc: number): string {
    return this.#pools[arc >> 1] as string;
  }

  #grow(): void {
    const larger = <T extends Float64Array | Int32Array>(from: T, into: T): T => {
      into.set(from);
      return into;
    };
    const capacity = 2 * this.arc.length;
    this.arc = larger(this.arc, new Int32Array(capacity));
    this.parent = larger(this.parent, new Int32Array(capacity));
    this.width = larger(this.width, new Float64Array(capacity));
    this.tie = larger(this.tie, new Int32Array(capacity));
    this.#heap = larger(this.#heap, new Int32Array(capacity));
  }
}
