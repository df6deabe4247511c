import type { PricedTokens } from "./priced-tokens.ts";

const NONE = -1;

/** Nodes in a heap, each once: those that the walk took first are first. */
export class NodeHeap {
  readonly #priced: PricedTokens;
  #nodes = new Int32Array(0);
  #size = 0;
  #isIn = new Uint8Array(0);

  constructor(priced: PricedTokens) {
    this.#priced = priced;
  }

  /** Makes room for nodes below `count`; only while it is empty. */
  reserve(count: number): void {
    if (count <= this.#isIn.length) return;
    this.#isIn = new Uint8Array(2 * count);
    this.#nodes = new Int32Array(2 * count);
  }

  clear(): void {
    for (let at = 0; at < this.#size; at++) this.#isIn[this.#nodes[at] as number] = 0;
    this.#size = 0;
  }

  /** Adds a node, unless it is here. */
  push(node: number): void {
    if (this.#isIn[node] === 1) return;
    this.#isIn[node] = 1;
    const nodes = this.#nodes;
    let at = this.#size++;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const other = nodes[above] as number;
      if (!this.#priced.isBefore(node, other)) break;
      nodes[at] = other;
      at = above;
    }
    nodes[at] = node;
  }

  /** Takes the first node; −1 without one. */
  pop(): number {
    if (this.#size === 0) return NONE;
    const nodes = this.#nodes;
    const first = nodes[0] as number;
    this.#isIn[first] = 0;
    const size = --this.#size;
    const last = nodes[size] as number;
    let at = 0;
    for (let child = 1; child < size; child = 2 * at + 1) {
      if (child + 1 < size && this.#priced.isBefore(nodes[child + 1] as number, nodes[child] as number))
        child += 1;
      if (this.#priced.isBefore(last, nodes[child] as number)) break;
      nodes[at] = nodes[child] as number;
      at = child;
    }
    nodes[at] = last;
    return first;
  }
}
