import { areOthers, type Departure, departureNow, hasLeft } from "../../shared/pricing/departure.ts";
import { roundDepth } from "../../shared/pricing/round-depth.ts";
import { agree } from "../../shared/pricing/value-prices.ts";
import type { Support } from "./link.ts";

/** What one pool says of a token's price. */
export interface PoolVote {
  /** The pool's arc, walked from the parent: 2 × edge + side. */
  readonly arc: number;
  /** Number of the token it comes from. */
  readonly parent: number;
  readonly usd: number;
  /** USD behind the thinnest pool of the path, on either side. */
  readonly depthUsd: number;
  /** What of it votes: what the pool has held, by its age; more than 0. */
  readonly weight: number;
}

/** The price in use until now. */
export interface UsedPrice {
  readonly usd: number;
  readonly departure: Departure | undefined;
}

export interface Verdict {
  /** The arc of the pool whose price is used. */
  readonly arc: number;
  readonly usd: number;
  readonly support: Support;
  /** Weight of the votes that agree, in USD: what this token's pools may vote with elsewhere. */
  readonly earnedUsd: number;
  readonly departure: Departure | undefined;
}

const NONE = -1;
/** More votes than this are sorted by the engine. */
const MANY = 24;

/**
 * The votes on one token at a time. A walk holds thousands of votes for each block: they are columns that are filled
 * again and again, since objects would leave most of the time to the garbage collector.
 */
export class Ballot {
  #count = 0;
  readonly #arc: number[] = [];
  readonly #parent: number[] = [];
  readonly #usd: number[] = [];
  readonly #depthUsd: number[] = [];
  readonly #weight: number[] = [];
  /** The votes by price, then by pool. */
  readonly #order: number[] = [];
  /** By parent: the weight of its votes. */
  #sums = new Float64Array(0);

  readonly #pools: readonly string[];

  /** @param pools addresses by edge */
  constructor(pools: readonly string[]) {
    this.#pools = pools;
  }

  clear(): void {
    this.#count = 0;
  }

  add({ arc, parent, usd, depthUsd, weight }: PoolVote): void {
    const at = this.#count++;
    this.#arc[at] = arc;
    this.#parent[at] = parent;
    this.#usd[at] = usd;
    this.#depthUsd[at] = depthUsd;
    this.#weight[at] = weight;
  }

  /**
   * The price of a token: the weighted median of its pools' votes, but for one pool with more than half of the weight
   * that has left the others (shared/pricing/departure.ts).
   * @param earnedUsd by parent: all votes over it together weigh no more
   */
  decide(at: { used: UsedPrice | undefined; now: number; earnedUsd: Float64Array }): Verdict {
    this.#capByParent(at.earnedUsd);
    this.#sort();
    const median = this.#median(NONE);
    const rival = at.used === undefined ? NONE : this.#rivalOf(median, at.used.usd);
    if (rival !== NONE) {
      const prices = { pool: this.#usd[median] as number, others: this.#usd[rival] as number, now: at.now };
      const departure = departureNow(at.used?.departure, prices);
      if (departure !== undefined) return this.#verdict(rival, departure);
    }
    return this.#verdict(median, undefined);
  }

  #capByParent(earnedUsd: Float64Array): void {
    if (this.#sums.length < earnedUsd.length) this.#sums = new Float64Array(earnedUsd.length);
    const sums = this.#sums;
    for (let i = 0; i < this.#count; i++) {
      const parent = this.#parent[i] as number;
      sums[parent] = (sums[parent] as number) + (this.#weight[i] as number);
    }
    for (let i = 0; i < this.#count; i++) {
      const parent = this.#parent[i] as number;
      const excess = (sums[parent] as number) / (earnedUsd[parent] as number);
      if (excess > 1) this.#weight[i] = (this.#weight[i] as number) / excess;
    }
    for (let i = 0; i < this.#count; i++) sums[this.#parent[i] as number] = 0;
  }

  #sort(): void {
    const order = this.#order;
    order.length = this.#count;
    for (let i = 0; i < this.#count; i++) order[i] = i;
    if (this.#count > MANY) order.sort((a, b) => (this.#isBefore(a, b) ? -1 : 1));
    else this.#sortFew();
  }

  /** Insertion: most tokens have a few pools. */
  #sortFew(): void {
    const order = this.#order;
    for (let i = 1; i < this.#count; i++) {
      let at = i;
      while (at > 0 && this.#isBefore(i, order[at - 1] as number)) {
        order[at] = order[at - 1] as number;
        at -= 1;
      }
      order[at] = i;
    }
  }

  #isBefore(a: number, b: number): boolean {
    const usdA = this.#usd[a] as number;
    const usdB = this.#usd[b] as number;
    return usdA === usdB ? this.#poolOf(a) < this.#poolOf(b) : usdA < usdB;
  }

  #poolOf(vote: number): string {
    return this.#pools[(this.#arc[vote] as number) >> 1] as string;
  }

  /** The vote at half of all weight, from the lowest price on; without one vote. */
  #median(without: number): number {
    let total = 0;
    for (const i of this.#order) if (i !== without) total += this.#weight[i] as number;
    let passed = 0;
    for (const i of this.#order) {
      if (i === without) continue;
      passed += this.#weight[i] as number;
      if (passed * 2 >= total) return i;
    }
    return this.#order[0] as number;
  }

  /** The median of the others where this pool alone has left them. */
  #rivalOf(pool: number, used: number): number {
    if (this.#count === 1) return NONE;
    const weight = this.#weight[pool] as number;
    let others = -weight;
    for (const i of this.#order) others += this.#weight[i] as number;
    if (!areOthers({ pool: weight, others })) return NONE;
    const rival = this.#median(pool);
    const prices = { pool: this.#usd[pool] as number, others: this.#usd[rival] as number, used };
    return hasLeft(prices) ? rival : NONE;
  }

  #verdict(chosen: number, departure: Departure | undefined): Verdict {
    const usd = this.#usd[chosen] as number;
    let deepest = NONE;
    let depthUsd = 0;
    let earnedUsd = 0;
    for (const i of this.#order) {
      if (!agree(usd, this.#usd[i] as number)) continue;
      earnedUsd += this.#weight[i] as number;
      depthUsd += this.#depthUsd[i] as number;
      if (deepest === NONE || this.#isDeeper(i, deepest)) deepest = i;
    }
    const most = this.#depthUsd[deepest] as number;
    const support = {
      pool: this.#poolOf(deepest),
      depthUsd: roundDepth(most),
      restUsd: roundDepth(Math.max(0, depthUsd - most)),
    };
    return { arc: this.#arc[chosen] as number, usd, support, earnedUsd, departure };
  }

  #isDeeper(a: number, b: number): boolean {
    const depthA = this.#depthUsd[a] as number;
    const depthB = this.#depthUsd[b] as number;
    return depthA === depthB ? this.#poolOf(a) < this.#poolOf(b) : depthA > depthB;
  }
}
