import {
  AGREEMENT,
  areOthers,
  type Departure,
  departureNow,
  distance,
  hasLeft,
  hasStayed,
  holdSeconds,
  isAwake,
  LEAST_OTHERS,
} from "../../shared/pricing/departure.ts";
import { roundDepth } from "../../shared/pricing/round-depth.ts";
import { VALUE_BOUND } from "../../shared/pricing/value-prices.ts";
import type { EdgeBook } from "./edges.ts";
import { larger } from "./larger-array.ts";
import { MARK_SECONDS } from "./marks.ts";
import type { PricedTokens } from "./priced-tokens.ts";
import { ARC, NEXT, PARENT, USD, VOTE_PRICE, type Votes, WEIGHT, WIDTH } from "./votes.ts";

/** The price in use until now. */
export interface UsedPrice {
  readonly usd: number;
  readonly departure: Departure | undefined;
  /** USD where all agree, where that is not the price at the last mark (TokenLink). */
  readonly agreedUsd: number | undefined;
}

/** A token's price until now; NaN: none. */
interface Before {
  /** USD in use. */
  readonly used: number;
  /** USD where all agreed. */
  readonly agreed: number;
  readonly departure: Departure | undefined;
}

const NONE = -1;
const FIRST_CAPACITY = 64;
/** More votes than this are sorted by the engine. */
const MANY = 24;
/** Between these multiples of a price no other is further than AGREEMENT: nearly all are, and a logarithm takes longer. */
const SURELY_NEAR = { least: 0.9902, most: 1.0098 };

/**
 * Decides on one token after the other what its pools' votes say. The votes and the verdict are columns and fields that
 * are written again and again: thousands of tokens are decided in each block.
 */
export class Ballot {
  /** The verdict: the arc of the pool whose price is used. */
  arc = NONE;
  /** The pool's own. */
  price = 0;
  usd = 0;
  /** By the shortest vote. */
  hops = 0;
  /** The deepest pool that agrees; rounded USD behind it, and behind the others that agree. */
  supportEdge = NONE;
  depthUsd = 0;
  restUsd = 0;
  /** Weight of the votes that agree, in USD. */
  earnedUsd = 0;
  departure: Departure | undefined;
  /** Whether pools that had left the others are followed from now on. */
  isFollowed = false;

  readonly #edges: EdgeBook;
  readonly #votes: Votes;
  readonly #priced: PricedTokens;
  /** The token's votes, in any order. */
  #count = 0;
  #vote = new Int32Array(FIRST_CAPACITY);
  #arc = new Int32Array(FIRST_CAPACITY);
  #parent = new Int32Array(FIRST_CAPACITY);
  #usd = new Float64Array(FIRST_CAPACITY);
  #width = new Float64Array(FIRST_CAPACITY);
  #weight = new Float64Array(FIRST_CAPACITY);
  /** The votes by price, then by pool. */
  #order = new Int32Array(FIRST_CAPACITY);
  /** Votes that have stayed, by price. */
  readonly #stayed: number[] = [];
  /** By parent: the weight of its votes. */
  #sums = new Float64Array(0);

  constructor({ edges, votes, priced }: { edges: EdgeBook; votes: Votes; priced: PricedTokens }) {
    this.#edges = edges;
    this.#votes = votes;
    this.#priced = priced;
  }

  /**
   * The price of a token: the weighted median of its pools' votes, but for pools with more than half of the weight that
   * have left the others (shared/pricing/departure.ts).
   */
  decide(node: number, before: Before, now: number): void {
    this.#collect(node);
    if (this.#count > MANY)
      this.#order.subarray(0, this.#count).sort((a, b) => (this.#isBefore(a, b) ? -1 : 1));
    else this.#sortFew();
    const total = this.#capByParent();
    const median = this.#median(NONE, total);
    const rival = Number.isNaN(before.used) || this.#count === 1 ? NONE : this.#rivalOf(median, before, now);
    this.departure = undefined;
    this.isFollowed = false;
    if (rival !== NONE) {
      const prices = { pool: this.#usd[median] as number, others: this.#usd[rival] as number, now };
      this.departure = departureNow(before.departure, prices);
      this.isFollowed = this.departure === undefined;
    }
    this.#conclude(this.departure === undefined ? median : rival);
  }

  #collect(node: number): void {
    const { first, links, values } = this.#votes;
    const { hops } = this.#priced;
    let count = 0;
    let leastHops = Number.POSITIVE_INFINITY;
    for (let at = first[node] as number; at !== NONE; at = links[at + NEXT] as number) {
      if (count === this.#order.length) this.#grow();
      const parent = links[at + PARENT] as number;
      this.#vote[count] = at;
      this.#arc[count] = links[at + ARC] as number;
      this.#parent[count] = parent;
      this.#usd[count] = values[at + USD] as number;
      this.#width[count] = values[at + WIDTH] as number;
      this.#weight[count] = values[at + WEIGHT] as number;
      const parentHops = hops[parent] as number;
      if (parentHops < leastHops) leastHops = parentHops;
      this.#order[count] = count;
      count += 1;
    }
    this.#count = count;
    this.hops = leastHops + 1;
  }

  /** Insertion: most tokens have a few pools. */
  #sortFew(): void {
    const [order, usd, count] = [this.#order, this.#usd, this.#count];
    for (let i = 1; i < count; i++) {
      const own = usd[i] as number;
      let at = i;
      for (; at > 0; at--) {
        const before = order[at - 1] as number;
        const other = usd[before] as number;
        if (other < own || (other === own && !this.#isBefore(i, before))) break;
        order[at] = before;
      }
      order[at] = i;
    }
  }

  #isBefore(a: number, b: number): boolean {
    const usdA = this.#usd[a] as number;
    const usdB = this.#usd[b] as number;
    return usdA === usdB ? this.#isLower(this.#arc[a] as number, this.#arc[b] as number) : usdA < usdB;
  }

  /** Whether the pool of an arc has the lower address. */
  #isLower(arc: number, other: number): boolean {
    return this.#edges.isBefore(arc >> 1, other >> 1);
  }

  /** All votes over one parent together weigh no more than what it has earned. Returns what all weigh. */
  #capByParent(): number {
    const { earned, claim } = this.#priced;
    const [order, weight, parent, count] = [this.#order, this.#weight, this.#parent, this.#count];
    let total = 0;
    let least = Number.POSITIVE_INFINITY;
    for (let place = 0; place < count; place++) {
      const i = order[place] as number;
      total += weight[i] as number;
      const own = earned[parent[i] as number] as number;
      if (own < least) least = own;
    }
    for (let i = 0; i < count; i++) {
      const own = parent[i] as number;
      if (total > (claim[own] as number)) claim[own] = total;
    }
    // A part is never more than the whole, also where sums are rounded.
    return total > least ? this.#cap() : total;
  }

  #cap(): number {
    const { earned } = this.#priced;
    const [order, weight, parents, count] = [this.#order, this.#weight, this.#parent, this.#count];
    if (this.#sums.length < earned.length) this.#sums = new Float64Array(earned.length);
    const sums = this.#sums;
    for (let place = 0; place < count; place++) {
      const i = order[place] as number;
      const parent = parents[i] as number;
      sums[parent] = (sums[parent] as number) + (weight[i] as number);
    }
    let total = 0;
    for (let place = 0; place < count; place++) {
      const i = order[place] as number;
      const parent = parents[i] as number;
      const excess = (sums[parent] as number) / (earned[parent] as number);
      if (excess > 1) weight[i] = (weight[i] as number) / excess;
      total += weight[i] as number;
    }
    for (let i = 0; i < count; i++) sums[parents[i] as number] = 0;
    return total;
  }

  /** The vote at half of `total`, the weight of all, from the lowest price on; without one vote. */
  #median(without: number, total: number): number {
    const [order, weight, count] = [this.#order, this.#weight, this.#count];
    let passed = 0;
    for (let place = 0; place < count; place++) {
      const i = order[place] as number;
      if (i === without) continue;
      passed += weight[i] as number;
      if (passed * 2 >= total) return i;
    }
    return order[0] as number;
  }

  /**
   * The median of the others where pools with more than half of the weight have left them. In steps first: that does not
   * depend on the price in use, so that deciding a block once more, as a start does, says the same.
   */
  #rivalOf(median: number, before: Before, now: number): number {
    const rival = this.#leftInSteps(median, before.agreed, now);
    return rival === NONE ? this.#leftAtOnce(median, before.used) : rival;
  }

  /** By one pool that has moved since the block before, while the others have not. */
  #leftAtOnce(pool: number, used: number): number {
    const [order, weights, count] = [this.#order, this.#weight, this.#count];
    const weight = weights[pool] as number;
    let others = -weight;
    for (let place = 0; place < count; place++) others += weights[order[place] as number] as number;
    if (!areOthers({ pool: weight, others })) return NONE;
    let total = 0;
    for (let place = 0; place < count; place++) {
      if (order[place] !== pool) total += weights[order[place] as number] as number;
    }
    const rival = this.#median(pool, total);
    const [own, other] = [this.#usd[pool] as number, this.#usd[rival] as number];
    if (own > other * SURELY_NEAR.least && own < other * SURELY_NEAR.most) return NONE;
    return hasLeft({ pool: own, others: other, used }) ? rival : NONE;
  }

  /**
   * By one or several pools, in steps of any size, while others that trade stay where all agreed. Who stays may only become
   * less with time, so that nobody leaves by time alone: whoever has left is decided on in each block.
   */
  #leftInSteps(chosen: number, agreedUsd: number, now: number): number {
    const median = this.#usd[chosen] as number;
    if (median > agreedUsd * SURELY_NEAR.least && median < agreedUsd * SURELY_NEAR.most) return NONE;
    // Also where there is no such price.
    if (!(distance(median, agreedUsd) > AGREEMENT)) return NONE;
    const going = { median, agreedUsd, within: AGREEMENT };
    // Faster than a hold would allow: then it is not asked how far the others were from all before.
    const isFast = holdSeconds(median, agreedUsd) > MARK_SECONDS;
    const [order, usd, weight, arc, count] = [this.#order, this.#usd, this.#weight, this.#arc, this.#count];
    const stayed = this.#stayed;
    stayed.length = 0;
    let [all, staying] = [0, 0];
    for (let place = 0; place < count; place++) {
      const i = order[place] as number;
      all += weight[i] as number;
      const lastTime = this.#edges.lastTimeOf((arc[i] as number) >> 1);
      if (!isAwake(lastTime, now) || !hasStayed(usd[i] as number, going, isFast)) continue;
      staying += weight[i] as number;
      stayed.push(i);
    }
    if (stayed.length === 0 || staying < LEAST_OTHERS * all) return NONE;
    let passed = 0;
    for (const i of stayed) {
      passed += weight[i] as number;
      if (passed * 2 >= staying) return i;
    }
    return NONE;
  }

  #conclude(chosen: number): void {
    const [order, usd, width, weight, count] = [
      this.#order,
      this.#usd,
      this.#width,
      this.#weight,
      this.#count,
    ];
    const own = usd[chosen] as number;
    // As agree() has it.
    const most = own * VALUE_BOUND;
    const least = own / VALUE_BOUND;
    let deepest = NONE;
    let deepestWidth = Number.NEGATIVE_INFINITY;
    let depthUsd = 0;
    let earnedUsd = 0;
    for (let place = 0; place < count; place++) {
      const i = order[place] as number;
      const other = usd[i] as number;
      if (other > most || other < least) continue;
      const depth = width[i] as number;
      earnedUsd += weight[i] as number;
      depthUsd += depth;
      if (depth < deepestWidth) continue;
      if (depth === deepestWidth && !this.#isLower(this.#arc[i] as number, this.#arc[deepest] as number))
        continue;
      deepest = i;
      deepestWidth = depth;
    }
    this.arc = this.#arc[chosen] as number;
    this.price = this.#votes.values[(this.#vote[chosen] as number) + VOTE_PRICE] as number;
    this.usd = own;
    this.supportEdge = (this.#arc[deepest] as number) >> 1;
    this.depthUsd = roundDepth(deepestWidth);
    this.restUsd = roundDepth(Math.max(0, depthUsd - deepestWidth));
    this.earnedUsd = earnedUsd;
  }

  #grow(): void {
    const capacity = 2 * this.#order.length;
    this.#vote = larger(this.#vote, new Int32Array(capacity));
    this.#arc = larger(this.#arc, new Int32Array(capacity));
    this.#parent = larger(this.#parent, new Int32Array(capacity));
    this.#usd = larger(this.#usd, new Float64Array(capacity));
    this.#width = larger(this.#width, new Float64Array(capacity));
    this.#weight = larger(this.#weight, new Float64Array(capacity));
    this.#order = larger(this.#order, new Int32Array(capacity));
  }
}
