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
import { IntList } from "./int-list.ts";
import { larger } from "./larger-array.ts";
import type { LinkColumns } from "./link-columns.ts";
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

/** What is known of a token before it is decided, and where; NaN: nothing. */
const USED = 0;
const AGREED = 1;
const DEPARTED_AT = 2;
const DEPARTED_USD = 3;

const NONE = -1;
const FIRST_CAPACITY = 64;
/** More than any walk allows. */
const MOST_HOPS = 254;
/** Votes are sorted over these distances, the widest first: each a third of the one before it (Knuth). */
const GAPS = [9_841, 3_280, 1_093, 364, 121, 40, 13, 1];
/** Between these multiples of a price no other is further than AGREEMENT: nearly all are, and a logarithm takes longer. */
const SURELY_NEAR = { least: 0.9902, most: 1.0098 };

/**
 * Decides on one token after the other what its pools' votes say. The votes and the verdict are columns that are written
 * again and again: thousands of tokens are decided in each block. A number that a function takes or returns may be an
 * object of its own; one in a column never is.
 */
export class Ballot {
  readonly #edges: EdgeBook;
  readonly #votes: Votes;
  readonly #priced: PricedTokens;
  readonly #links: LinkColumns;
  /** USD in use, USD where all agreed, and the departure's two. */
  readonly #before = new Float64Array(4);
  #departure: Departure | undefined;
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
  readonly #stayed = new IntList();
  /** By parent: the weight of its votes. */
  #sums = new Float64Array(0);

  constructor({
    edges,
    votes,
    priced,
    links,
  }: { edges: EdgeBook; votes: Votes; priced: PricedTokens; links: LinkColumns }) {
    this.#edges = edges;
    this.#votes = votes;
    this.#priced = priced;
    this.#links = links;
  }

  /**
   * The price of a token: the weighted median of its pools' votes, but for pools with more than half of the weight that
   * have left the others (shared/pricing/departure.ts). What was used until now is what the columns say, where the token
   * has a link. Writes the verdict into them, but for where all agree. Returns whether pools that had left the others
   * are followed from now on.
   * @param markedUsd USD in use at the last mark, by node
   * @param remembered what was used where the token has no link
   */
  decide(node: number, now: number, markedUsd: Float64Array, remembered: UsedPrice | undefined): boolean {
    this.#lookBack(node, markedUsd, remembered);
    this.#collect(node);
    this.#departure = undefined;
    if (this.#count === 1) {
      this.#capOne();
      this.#conclude(node, 0);
      return false;
    }
    this.#sort();
    this.#capByParent();
    const median = this.#median(NONE);
    const rival = this.#rivalOf(median, now);
    if (rival !== NONE) this.#departure = this.#departureTo(median, rival, now);
    this.#conclude(node, this.#departure === undefined ? median : rival);
    return rival !== NONE && this.#departure === undefined;
  }

  #lookBack(node: number, markedUsd: Float64Array, remembered: UsedPrice | undefined): void {
    const before = this.#before;
    const links = this.#links;
    if ((links.arc[node] as number) >= 0) {
      before[USED] = this.#priced.usd[node] as number;
      before[AGREED] = links.agreedUsd[node] as number;
      before[DEPARTED_AT] = links.departedAt[node] as number;
      before[DEPARTED_USD] = links.departedUsd[node] as number;
    } else {
      before[USED] = remembered?.usd ?? Number.NaN;
      before[AGREED] = remembered?.agreedUsd ?? Number.NaN;
      before[DEPARTED_AT] = remembered?.departure?.since ?? Number.NaN;
      before[DEPARTED_USD] = remembered?.departure?.usd ?? Number.NaN;
      // Kept unless pools are followed now.
      links.agreedUsd[node] = before[AGREED] as number;
    }
    if (Number.isNaN(before[AGREED])) before[AGREED] = markedUsd[node] as number;
  }

  #departureTo(pool: number, others: number, now: number): Departure | undefined {
    const since = this.#before[DEPARTED_AT] as number;
    const before = Number.isNaN(since) ? undefined : { since, usd: this.#before[DEPARTED_USD] as number };
    return departureNow(before, {
      pool: this.#usd[pool] as number,
      others: this.#usd[others] as number,
      now,
    });
  }

  #collect(node: number): void {
    const { first, links, values } = this.#votes;
    const { hops } = this.#priced;
    let count = 0;
    let leastHops = MOST_HOPS;
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
    hops[node] = leastHops + 1;
  }

  /** Shell's sort: of a few votes, as most tokens have them, insertion alone. */
  #sort(): void {
    const order = this.#order;
    const usd = this.#usd;
    const count = this.#count;
    for (const gap of GAPS) {
      for (let place = gap; place < count; place++) {
        const i = order[place] as number;
        const own = usd[i] as number;
        let at = place;
        for (; at >= gap; at -= gap) {
          const before = order[at - gap] as number;
          const other = usd[before] as number;
          if (other < own || (other === own && this.#isLower(before, i))) break;
          order[at] = before;
        }
        order[at] = i;
      }
    }
  }

  /** Whether the pool of a vote has a lower address than that of another one. */
  #isLower(vote: number, other: number): boolean {
    return this.#edges.isBefore((this.#arc[vote] as number) >> 1, (this.#arc[other] as number) >> 1);
  }

  /** As capByParent() of a token with one vote, as most are. */
  #capOne(): void {
    const { earned, claim } = this.#priced;
    const parent = this.#parent[0] as number;
    const weight = this.#weight[0] as number;
    const most = earned[parent] as number;
    if (weight > (claim[parent] as number)) claim[parent] = weight;
    if (weight > most && weight / most > 1) this.#weight[0] = weight / (weight / most);
  }

  /** All votes over one parent together weigh no more than what it has earned. */
  #capByParent(): void {
    const { earned, claim } = this.#priced;
    const order = this.#order;
    const weight = this.#weight;
    const parent = this.#parent;
    const count = this.#count;
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
    if (total > least) this.#cap();
  }

  #cap(): void {
    const { earned } = this.#priced;
    const order = this.#order;
    const weight = this.#weight;
    const parents = this.#parent;
    const count = this.#count;
    if (this.#sums.length < earned.length) this.#sums = new Float64Array(earned.length);
    const sums = this.#sums;
    for (let place = 0; place < count; place++) {
      const i = order[place] as number;
      const parent = parents[i] as number;
      sums[parent] = (sums[parent] as number) + (weight[i] as number);
    }
    for (let i = 0; i < count; i++) {
      const parent = parents[i] as number;
      const excess = (sums[parent] as number) / (earned[parent] as number);
      if (excess > 1) weight[i] = (weight[i] as number) / excess;
    }
    for (let i = 0; i < count; i++) sums[parents[i] as number] = 0;
  }

  /** The vote at half of all weight from the lowest price on; without one vote. */
  #median(without: number): number {
    const order = this.#order;
    const weight = this.#weight;
    const count = this.#count;
    let total = 0;
    for (let place = 0; place < count; place++) {
      const i = order[place] as number;
      if (i !== without) total += weight[i] as number;
    }
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
   * The median of the others where pools with more than half of the weight have left them. In steps first, also of a token
   * that had no price in the block before: that does not depend on the price in use, so that deciding a block once more, as
   * a start does, says the same.
   */
  #rivalOf(median: number, now: number): number {
    const rival = this.#leftInSteps(median, now);
    return rival === NONE ? this.#leftAtOnce(median) : rival;
  }

  /**
   * By one pool that has moved since the block before, while the others have not; none where the token had no price then,
   * as nothing is nearer to that.
   */
  #leftAtOnce(pool: number): number {
    const order = this.#order;
    const weights = this.#weight;
    const count = this.#count;
    const weight = weights[pool] as number;
    let others = -weight;
    for (let place = 0; place < count; place++) others += weights[order[place] as number] as number;
    if (!areOthers({ pool: weight, others })) return NONE;
    const rival = this.#median(pool);
    const own = this.#usd[pool] as number;
    const other = this.#usd[rival] as number;
    if (own > other * SURELY_NEAR.least && own < other * SURELY_NEAR.most) return NONE;
    return hasLeft({ pool: own, others: other, used: this.#before[USED] as number }) ? rival : NONE;
  }

  /**
   * By one or several pools, in steps of any size, while others that trade stay where all agreed. Who stays may only become
   * less with time, so that nobody leaves by time alone: whoever has left is decided on in each block.
   */
  #leftInSteps(chosen: number, now: number): number {
    const median = this.#usd[chosen] as number;
    const agreedUsd = this.#before[AGREED] as number;
    if (median > agreedUsd * SURELY_NEAR.least && median < agreedUsd * SURELY_NEAR.most) return NONE;
    // Also where there is no such price.
    if (!(distance(median, agreedUsd) > AGREEMENT)) return NONE;
    const going = { median, agreedUsd, within: AGREEMENT };
    // Faster than a hold would allow: then it is not asked how far the others were from all before.
    const isFast = holdSeconds(median, agreedUsd) > MARK_SECONDS;
    const order = this.#order;
    const weight = this.#weight;
    const count = this.#count;
    const stayed = this.#stayed;
    stayed.clear();
    let all = 0;
    let staying = 0;
    for (let place = 0; place < count; place++) {
      const i = order[place] as number;
      all += weight[i] as number;
      const lastTime = this.#edges.lastTimeOf((this.#arc[i] as number) >> 1);
      if (!isAwake(lastTime, now) || !hasStayed(this.#usd[i] as number, going, isFast)) continue;
      staying += weight[i] as number;
      stayed.push(i);
    }
    if (stayed.count === 0 || staying < LEAST_OTHERS * all) return NONE;
    let passed = 0;
    for (let k = 0; k < stayed.count; k++) {
      const i = stayed.items[k] as number;
      passed += weight[i] as number;
      if (passed * 2 >= staying) return i;
    }
    return NONE;
  }

  /** Writes down what the token is priced by, and what agrees with that. */
  #conclude(node: number, chosen: number): void {
    const order = this.#order;
    const usd = this.#usd;
    const width = this.#width;
    const count = this.#count;
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
      earnedUsd += this.#weight[i] as number;
      depthUsd += depth;
      if (depth < deepestWidth || (depth === deepestWidth && !this.#isLower(i, deepest))) continue;
      deepest = i;
      deepestWidth = depth;
    }
    const links = this.#links;
    this.#priced.usd[node] = own;
    this.#priced.earned[node] = earnedUsd;
    links.arc[node] = this.#arc[chosen] as number;
    links.price[node] = this.#votes.values[(this.#vote[chosen] as number) + VOTE_PRICE] as number;
    links.hops[node] = this.#priced.hops[node] as number;
    links.supportEdge[node] = (this.#arc[deepest] as number) >> 1;
    links.depthUsd[node] = roundDepth(deepestWidth);
    links.restUsd[node] = roundDepth(Math.max(0, depthUsd - deepestWidth));
    links.departedAt[node] = this.#departure?.since ?? Number.NaN;
    links.departedUsd[node] = this.#departure?.usd ?? Number.NaN;
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
