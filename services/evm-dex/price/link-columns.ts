import { larger } from "./larger-array.ts";

/** In place of an arc: the token has no price, it is an anchor, or its pool is not known. */
export const ABSENT = -1;
export const ANCHOR = -2;
export const UNKNOWN = -3;

/** What tokens' links say, in columns by node: 100,000 objects would take five times the memory. */
export class LinkColumns {
  /** Of the pool of the median, walked from the parent; or one of the above. */
  arc = new Int32Array(0);
  /** Of the pool, token1 per token0; of an anchor, its USD. */
  price = new Float64Array(0);
  hops = new Uint8Array(0);
  /** The deepest pool that agrees, its depth and that of the others, in rounded USD. */
  supportEdge = new Int32Array(0);
  depthUsd = new Float64Array(0);
  restUsd = new Float64Array(0);
  /** Unix seconds and USD; NaN: no pool has left the others. */
  departedAt = new Float64Array(0);
  departedUsd = new Float64Array(0);
  /** USD where all agree; NaN: that is the price in use at the last mark. */
  agreedUsd = new Float64Array(0);

  /** Makes room for nodes below `count`. */
  reserve(count: number): void {
    if (count <= this.arc.length) return;
    const capacity = 2 * count;
    this.arc = larger(this.arc, new Int32Array(capacity).fill(ABSENT));
    this.price = larger(this.price, new Float64Array(capacity));
    this.hops = larger(this.hops, new Uint8Array(capacity));
    this.supportEdge = larger(this.supportEdge, new Int32Array(capacity));
    this.depthUsd = larger(this.depthUsd, new Float64Array(capacity));
    this.restUsd = larger(this.restUsd, new Float64Array(capacity));
    this.departedAt = larger(this.departedAt, new Float64Array(capacity).fill(Number.NaN));
    this.departedUsd = larger(this.departedUsd, new Float64Array(capacity).fill(Number.NaN));
    this.agreedUsd = larger(this.agreedUsd, new Float64Array(capacity).fill(Number.NaN));
  }

  isSame(other: LinkColumns, node: number): boolean {
    if (this.arc[node] !== other.arc[node] || this.price[node] !== other.price[node]) return false;
    if ((this.arc[node] as number) < 0) return true;
    return (
      this.hops[node] === other.hops[node] &&
      this.supportEdge[node] === other.supportEdge[node] &&
      this.depthUsd[node] === other.depthUsd[node] &&
      this.restUsd[node] === other.restUsd[node] &&
      Object.is(this.departedAt[node], other.departedAt[node]) &&
      Object.is(this.departedUsd[node], other.departedUsd[node]) &&
      Object.is(this.agreedUsd[node], other.agreedUsd[node])
    );
  }

  copy(from: LinkColumns, node: number): void {
    this.arc[node] = from.arc[node] as number;
    this.price[node] = from.price[node] as number;
    this.hops[node] = from.hops[node] as number;
    this.supportEdge[node] = from.supportEdge[node] as number;
    this.depthUsd[node] = from.depthUsd[node] as number;
    this.restUsd[node] = from.restUsd[node] as number;
    this.departedAt[node] = from.departedAt[node] as number;
    this.departedUsd[node] = from.departedUsd[node] as number;
    this.agreedUsd[node] = from.agreedUsd[node] as number;
  }
}
