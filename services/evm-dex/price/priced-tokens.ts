import { larger } from "./larger-array.ts";

/** What a walk has found of each token, in columns by node. */
export class PricedTokens {
  usd = new Float64Array(0);
  /** USD behind the widest path, on its thinnest side; Infinity of an anchor. */
  width = new Float64Array(0);
  /** Weight of the votes that agree, in USD: what the token's pools may vote with elsewhere; Infinity of an anchor. */
  earned = new Float64Array(0);
  /** Pools to an anchor, by the shortest vote. */
  hops = new Uint8Array(0);
  /** USD in the deepest of the node's pools that lead on: a width above that is not felt by any token. */
  need = new Float64Array(0);
  /** The most that the votes of a token with one over this node weigh: to have earned more is not felt either. */
  claim = new Float64Array(0);
  /** The node's place in the order of the last whole walk. */
  #rank = new Int32Array(0);
  /** The last walk that priced it. */
  walk = new Int32Array(0);
  /** The walk that is made, or was last. */
  current = 0;
  /** In the order they were priced: anchors, then by width. */
  order: number[] = [];
  #orderBefore: number[] = [];

  /** Makes room for nodes below `count`. */
  reserve(count: number): void {
    if (count <= this.usd.length) return;
    const capacity = 2 * count;
    this.usd = larger(this.usd, new Float64Array(capacity));
    this.width = larger(this.width, new Float64Array(capacity));
    this.earned = larger(this.earned, new Float64Array(capacity).fill(Number.POSITIVE_INFINITY));
    this.hops = larger(this.hops, new Uint8Array(capacity));
    this.need = larger(this.need, new Float64Array(capacity));
    this.claim = larger(this.claim, new Float64Array(capacity));
    this.#rank = larger(this.#rank, new Int32Array(capacity));
    this.walk = larger(this.walk, new Int32Array(capacity));
  }

  /** Begins another walk: nothing is priced. What was, keeps its values until it is. Returns the order before. */
  begin(): readonly number[] {
    const before = this.order;
    this.order = this.#orderBefore;
    this.order.length = 0;
    this.#orderBefore = before;
    this.current += 1;
    return before;
  }

  settle(node: number): void {
    this.#rank[node] = this.order.push(node);
    this.walk[node] = this.current;
  }

  has(node: number): boolean {
    return this.walk[node] === this.current;
  }

  /** Whether a node was taken before another. Of equal width it was so in the last whole walk. */
  isBefore(node: number, other: number): boolean {
    const width = this.width[node] as number;
    const otherWidth = this.width[other] as number;
    return width === otherWidth
      ? (this.#rank[node] as number) < (this.#rank[other] as number)
      : width > otherWidth;
  }

  /** Where a node is in the order. */
  placeOf(node: number): number {
    let low = 0;
    for (let high = this.order.length - 1; low < high; ) {
      const middle = (low + high) >> 1;
      if (this.isBefore(this.order[middle] as number, node)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
