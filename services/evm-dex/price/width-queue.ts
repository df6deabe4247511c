import { larger } from "./larger-array.ts";

const NONE = -1;
/** A node that was taken: no other offer for it counts. */
const TAKEN = -2;
const FIRST_CAPACITY = 1_024;
/** Of a positive float: its exponent and seven binary digits, 128 buckets to a doubling. */
const BUCKET_SHIFT = 13;
const BUCKETS = 2 ** 18;
const float = new Float64Array(1);
const words = new Uint32Array(float.buffer);
const HIGH = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1 ? 1 : 0;

/**
 * Nodes by the width of their widest pool so far: the widest first, then the lower pool address. No offer is wider than
 * the node taken last, as no path is wider than its first part. So nodes wait unsorted in buckets of less than a hundredth each,
 * and only those of the bucket at hand are in a heap.
 */
export class WidthQueue {
  /** By node: its widest offer, −1 without one, and the pool of it. */
  #width = new Float64Array(0);
  #edge = new Int32Array(0);
  /** By bucket: the first entry in it. */
  readonly #first = new Int32Array(BUCKETS).fill(NONE);
  /** By entry: its node, and the next in its bucket. */
  #node = new Int32Array(FIRST_CAPACITY);
  #next = new Int32Array(FIRST_CAPACITY);
  #entries = 0;
  /** The bucket whose nodes are in the heap; all lower ones are in lists. */
  #open = BUCKETS;
  /** No bucket above it has a list: most of them are of widths that no pool has. */
  #highest = 0;
  /** The heap's offers. */
  #heapNode = new Int32Array(FIRST_CAPACITY);
  #heapWidth = new Float64Array(FIRST_CAPACITY);
  #heapEdge = new Int32Array(FIRST_CAPACITY);
  #size = 0;
  #waiting = 0;
  readonly #isLower: (edge: number, other: number) => boolean;

  /** @param isLower whether the pool of one edge has a lower address than that of another one */
  constructor(isLower: (edge: number, other: number) => boolean) {
    this.#isLower = isLower;
  }

  /** Makes room for nodes below `count`. */
  reserve(count: number): void {
    if (count <= this.#width.length) return;
    this.#width = larger(this.#width, new Float64Array(2 * count).fill(NONE));
    this.#edge = larger(this.#edge, new Int32Array(2 * count));
  }

  clear(): void {
    for (let entry = 0; entry < this.#entries; entry++) this.#width[this.#node[entry] as number] = NONE;
    this.#entries = 0;
    this.#size = 0;
    this.#waiting = 0;
    this.#open = BUCKETS;
    this.#highest = 0;
  }

  /** The width of a node's widest offer. */
  widthOf(node: number): number {
    return this.#width[node] as number;
  }

  /** Offers a pool for a node that has not been taken. */
  offer(node: number, width: number, edge: number): void {
    const known = this.#width[node] as number;
    if (width < known) return;
    if (width === known && !this.#isLower(edge, this.#edge[node] as number)) return;
    this.#width[node] = width;
    this.#edge[node] = edge;
    const bucket = bucketOf(width);
    if (known === NONE || bucketOf(known) !== bucket) this.#addEntry(node, bucket);
    if (bucket >= this.#open) this.#push(node, width, edge);
  }

  /** The node of the widest pool, or −1. */
  take(): number {
    for (;;) {
      while (this.#size === 0) if (!this.#openNext()) return NONE;
      const node = this.#pop();
      if (this.#edge[node] === TAKEN) continue;
      this.#edge[node] = TAKEN;
      return node;
    }
  }

  #addEntry(node: number, bucket: number): void {
    const entry = this.#entries++;
    if (entry === this.#node.length) {
      this.#node = larger(this.#node, new Int32Array(2 * entry));
      this.#next = larger(this.#next, new Int32Array(2 * entry));
    }
    this.#node[entry] = node;
    if (bucket >= this.#open) return;
    if (bucket > this.#highest) this.#highest = bucket;
    this.#next[entry] = this.#first[bucket] as number;
    this.#first[bucket] = entry;
    this.#waiting += 1;
  }

  /** Puts the nodes of the next bucket into the heap, but for those that a wider pool has taken elsewhere. */
  #openNext(): boolean {
    if (this.#waiting === 0) return false;
    if (this.#open > this.#highest) this.#open = this.#highest + 1;
    do this.#open -= 1;
    while (this.#first[this.#open] === NONE);
    for (let entry = this.#first[this.#open] as number; entry !== NONE; entry = this.#next[entry] as number) {
      this.#waiting -= 1;
      const node = this.#node[entry] as number;
      const width = this.#width[node] as number;
      if (bucketOf(width) === this.#open) this.#push(node, width, this.#edge[node] as number);
    }
    this.#first[this.#open] = NONE;
    return true;
  }

  #push(node: number, width: number, edge: number): void {
    if (this.#size === this.#heapNode.length) this.#growHeap();
    let at = this.#size++;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (!this.#isAbove(width, edge, above)) break;
      this.#move(above, at);
      at = above;
    }
    this.#heapNode[at] = node;
    this.#heapWidth[at] = width;
    this.#heapEdge[at] = edge;
  }

  #pop(): number {
    const best = this.#heapNode[0] as number;
    const size = --this.#size;
    const width = this.#heapWidth[size] as number;
    const edge = this.#heapEdge[size] as number;
    let at = 0;
    for (let child = 1; child < size; child = 2 * at + 1) {
      if (
        child + 1 < size &&
        this.#isAbove(this.#heapWidth[child + 1] as number, this.#heapEdge[child + 1] as number, child)
      )
        child += 1;
      if (this.#isAbove(width, edge, child)) break;
      this.#move(child, at);
      at = child;
    }
    this.#heapNode[at] = this.#heapNode[size] as number;
    this.#heapWidth[at] = width;
    this.#heapEdge[at] = edge;
    return best;
  }

  #move(from: number, to: number): void {
    this.#heapNode[to] = this.#heapNode[from] as number;
    this.#heapWidth[to] = this.#heapWidth[from] as number;
    this.#heapEdge[to] = this.#heapEdge[from] as number;
  }

  #isAbove(width: number, edge: number, place: number): boolean {
    const other = this.#heapWidth[place] as number;
    return width === other ? this.#isLower(edge, this.#heapEdge[place] as number) : width > other;
  }

  #growHeap(): void {
    const capacity = 2 * this.#heapNode.length;
    this.#heapNode = larger(this.#heapNode, new Int32Array(capacity));
    this.#heapWidth = larger(this.#heapWidth, new Float64Array(capacity));
    this.#heapEdge = larger(this.#heapEdge, new Int32Array(capacity));
  }
}

function bucketOf(width: number): number {
  float[0] = width;
  return (words[HIGH] as number) >>> BUCKET_SHIFT;
}
