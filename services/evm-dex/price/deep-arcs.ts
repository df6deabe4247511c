import { larger } from "./larger-array.ts";

const FIRST_NODES = 256;
const FIRST_PLACES = 1_024;
/** Room for at least so many arcs more, and for a quarter of those there are. */
const LEAST_ROOM = 2;
/** Numbers beside each arc, and where they are. */
export const DEEP_STRIDE = 4;
export const PRICE = 0;
export const NEAR = 1;
export const FAR = 2;
export const SHARE = 3;

/**
 * Lists of arcs by node, one after the other in a few arrays: a walk reads each list from its begin to its end, and what
 * lies side by side is read many times as fast as what is spread over half a million pools. A list that outgrows its
 * place moves to the end; what it leaves is taken back when the arrays are full.
 */
export class DeepArcs {
  /** By place: the arc, the node it leads to, and price, depth on either side and share of its vote. */
  arc = new Int32Array(FIRST_PLACES);
  to = new Int32Array(FIRST_PLACES);
  values = new Float64Array(DEEP_STRIDE * FIRST_PLACES);
  #end = 0;
  /** By node: where its list begins, its length and its room. */
  #start = new Int32Array(FIRST_NODES);
  #count = new Int32Array(FIRST_NODES);
  #room = new Int32Array(FIRST_NODES);
  /** Called with each arc whose place has changed. */
  readonly #onMove: (arc: number, place: number) => void;

  constructor(onMove: (arc: number, place: number) => void) {
    this.#onMove = onMove;
  }

  /** First place of a node's list. */
  startOf(node: number): number {
    return this.#start[node] as number;
  }

  countOf(node: number): number {
    return this.#count[node] as number;
  }

  /** Makes room for one more node. */
  addNode(node: number): void {
    if (node < this.#start.length) return;
    this.#start = larger(this.#start, new Int32Array(2 * node));
    this.#count = larger(this.#count, new Int32Array(2 * node));
    this.#room = larger(this.#room, new Int32Array(2 * node));
  }

  clear(node: number): void {
    this.#count[node] = 0;
  }

  /** Appends an arc to a node's list. Returns its place, whose values are to be written. */
  push(node: number, arc: number, to: number): number {
    const count = this.#count[node] as number;
    if (count === this.#room[node]) this.#makeRoom(node);
    const place = (this.#start[node] as number) + count;
    this.#count[node] = count + 1;
    this.arc[place] = arc;
    this.to[place] = to;
    return place;
  }

  /** Takes an arc out: the last of the list gets its place. */
  remove(node: number, place: number): void {
    const count = (this.#count[node] as number) - 1;
    this.#count[node] = count;
    const last = (this.#start[node] as number) + count;
    if (last === place) return;
    this.#copy(last, place);
    this.#onMove(this.arc[place] as number, place);
  }

  #makeRoom(node: number): void {
    const count = this.#count[node] as number;
    const room = count + LEAST_ROOM + (count >> 2);
    if (this.#end + room > this.arc.length) this.#collect(room);
    this.#moveTo(node, this.#end);
    this.#room[node] = room;
    this.#end += room;
  }

  #moveTo(node: number, start: number): void {
    const from = this.#start[node] as number;
    const count = this.#count[node] as number;
    this.#start[node] = start;
    if (from === start) return;
    for (let i = 0; i < count; i++) {
      this.#copy(from + i, start + i);
      this.#onMove(this.arc[start + i] as number, start + i);
    }
  }

  #copy(from: number, to: number): void {
    this.arc[to] = this.arc[from] as number;
    this.to[to] = this.to[from] as number;
    for (let i = 0; i < DEEP_STRIDE; i++) {
      this.values[DEEP_STRIDE * to + i] = this.values[DEEP_STRIDE * from + i] as number;
    }
  }

  /** Moves all lists together, and doubles the arrays where that leaves less than half of them. */
  #collect(needed: number): void {
    const lists: number[] = [];
    for (let node = 0; node < this.#room.length; node++) if (this.#room[node]) lists.push(node);
    lists.sort((a, b) => this.startOf(a) - this.startOf(b));
    this.#end = 0;
    for (const node of lists) {
      this.#moveTo(node, this.#end);
      const room = this.#count[node] as number;
      this.#room[node] = room;
      this.#end += room;
    }
    let capacity = this.arc.length;
    while (2 * (this.#end + needed) > capacity) capacity *= 2;
    if (capacity === this.arc.length) return;
    this.arc = larger(this.arc, new Int32Array(capacity));
    this.to = larger(this.to, new Int32Array(capacity));
    this.values = larger(this.values, new Float64Array(DEEP_STRIDE * capacity));
  }
}
