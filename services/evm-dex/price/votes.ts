import { larger } from "./larger-array.ts";

const NONE = -1;
const FIRST_CAPACITY = 4_096;
/** Numbers of a vote, and where they are: what is read together lies together. */
export const VOTE_STRIDE = 4;
/** USD of the token. */
export const USD = 0;
/** USD behind the thinnest pool of the path, on either side. */
export const WIDTH = 1;
/** What of it votes: what the pool has held, by its age; more than 0. */
export const WEIGHT = 2;
/** The pool's own: a walk that looks it up there waits for memory. */
export const VOTE_PRICE = 3;
/** The pool's arc, walked from the parent. */
export const ARC = 0;
export const PARENT = 1;
/** Another vote for the same node. */
export const NEXT = 2;

/**
 * What the pools say of the tokens they lead to, in columns that are filled again at every walk: thirty thousand objects a
 * block would leave most of the time to the garbage collector.
 */
export class Votes {
  #count = 0;
  /** Votes at which there are twice as many as a whole walk left: many of them are forgotten ones. */
  #most = 0;
  /** By vote: USD, WIDTH, WEIGHT and VOTE_PRICE; ARC, PARENT and NEXT. */
  values = new Float64Array(VOTE_STRIDE * FIRST_CAPACITY);
  links = new Int32Array(VOTE_STRIDE * FIRST_CAPACITY);
  /** By node: where its last vote begins. */
  first = new Int32Array(0);

  /** Makes room for nodes below `count`. */
  reserve(count: number): void {
    if (count > this.first.length) this.first = larger(this.first, new Int32Array(2 * count).fill(NONE));
  }

  /** Forgets all votes, those for these nodes. */
  clear(nodes: readonly number[]): void {
    for (const node of nodes) this.first[node] = NONE;
    this.#count = 0;
  }

  /** Adds a vote for a node. Returns where its values are to be written. */
  add(node: number, arc: number, parent: number): number {
    const at = VOTE_STRIDE * this.#count++;
    if (at === this.values.length) this.#grow();
    this.links[at + ARC] = arc;
    this.links[at + PARENT] = parent;
    this.links[at + NEXT] = this.first[node] as number;
    this.first[node] = at;
    return at;
  }

  /** What is there now is what a whole walk has made. */
  setWhole(): void {
    this.#most = 2 * this.#count + FIRST_CAPACITY;
  }

  get isFull(): boolean {
    return this.#count > this.#most;
  }

  has(node: number, edge: number): boolean {
    for (let at = this.first[node] ?? NONE; at !== NONE; at = this.links[at + NEXT] as number) {
      if ((this.links[at + ARC] as number) >> 1 === edge) return true;
    }
    return false;
  }

  #grow(): void {
    const capacity = 2 * this.values.length;
    this.values = larger(this.values, new Float64Array(capacity));
    this.links = larger(this.links, new Int32Array(capacity));
  }
}
