import { LEAST_SHARE } from "../../shared/pricing/vote-share.ts";
import { anchorPrices } from "./anchor-prices.ts";
import { Ballot, type UsedPrice, type Verdict } from "./ballot.ts";
import { Candidates } from "./candidates.ts";
import type { EdgeBook } from "./edges.ts";
import { larger } from "./larger-array.ts";
import { usdOver } from "./link.ts";

export interface WalkRules {
  readonly minDepthUsd: number;
  readonly maxHops: number;
}

export const DEFAULT_RULES: WalkRules = { minDepthUsd: 10_000, maxHops: 4 };

export const NONE = -1;
const FIRST_CAPACITY = 4_096;
/** No whole token is worth a trillion dollars; what a pool says beyond that is a mistake or a trick. */
const MAX_USD = 1e12;

/**
 * USD prices by a best-first walk from the anchors.
 * A pool's width is the USD behind it on its thinner side, at its own price, and never more than the width of the token
 * it is walked from. The token with the widest pool is priced next, by the weighted median of all its pools that have
 * at least minDepthUsd and lead to tokens priced before it (ballot.ts). So nothing that a token's price rests on
 * is narrower than its own widest pool, and a token that a few thousand dollars price never says anything of one that
 * millions do. A token is at most maxHops pools away from an anchor, by its shortest vote.
 */
export class Walk {
  readonly #edges: EdgeBook;
  readonly #rules: WalkRules;
  readonly #candidates: Candidates;
  /** Tokens priced, anchors first, then by width. */
  readonly order: number[] = [];
  /** By token. */
  #usd = new Float64Array(0);
  #width = new Float64Array(0);
  #earned = new Float64Array(0);
  #hops = new Uint8Array(0);
  #isPriced = new Uint8Array(0);
  #firstVote = new Int32Array(0);
  readonly #verdicts: (Verdict | undefined)[] = [];
  /** By vote: its arc, its width, and another vote for the same token. */
  #votes = 0;
  #voteArc = new Int32Array(FIRST_CAPACITY);
  #voteWidth = new Float64Array(FIRST_CAPACITY);
  #nextVote = new Int32Array(FIRST_CAPACITY);
  readonly #ballot: Ballot;
  /** What tokens are known to have been worth before the first walk of this process. */
  readonly #remembered = new Map<number, UsedPrice>();
  /** USD of the anchors by their feeds, by token. */
  readonly given: (number | undefined)[] = [];
  /** Tokens that are not priced by their deepest pool, which has left the others: time alone may change that. */
  departed = 0;

  constructor(edges: EdgeBook, rules: WalkRules) {
    this.#edges = edges;
    this.#rules = rules;
    this.#candidates = new Candidates(edges.pools);
    this.#ballot = new Ballot(edges.pools);
  }

  isPriced(token: number): boolean {
    return this.#isPriced[token] === 1;
  }

  usdOf(token: number): number {
    return this.#usd[token] as number;
  }

  hopsOf(token: number): number {
    return this.#hops[token] as number;
  }

  /** Of a priced token; undefined for anchors. */
  verdictOf(token: number): Verdict | undefined {
    return this.#verdicts[token];
  }

  /** Continues from prices of an earlier process. */
  remember(token: number, used: UsedPrice): void {
    this.#remembered.set(token, used);
  }

  /** @param now Unix seconds of the block */
  run(now: number): void {
    const before = this.order.slice();
    this.#clear();
    const { anchorCount, token: tokens } = this.#edges;
    const anchorUsd = anchorPrices(this.#edges, this.#rules.minDepthUsd, this.given);
    for (let token = 0; token < anchorCount; token++) {
      this.#settle(token, { usd: anchorUsd[token] as number, width: Number.POSITIVE_INFINITY, hops: 0 });
    }
    for (let token = 0; token < anchorCount; token++) this.#expand(token);
    for (let arc = this.#candidates.pop(); arc !== NONE; arc = this.#candidates.pop()) {
      const token = tokens[arc ^ 1] as number;
      if (this.isPriced(token)) continue;
      const verdict = this.#decide(token, {
        used: this.#verdicts[token] ?? this.#remembered.get(token),
        now,
      });
      if (verdict.departure !== undefined) this.departed += 1;
      this.#verdicts[token] = verdict;
      this.#earned[token] = verdict.earnedUsd;
      this.#settle(token, { usd: verdict.usd, ...this.#reachOf(token) });
      this.#expand(token);
    }
    for (const token of before) if (!this.isPriced(token)) this.#verdicts[token] = undefined;
    this.#remembered.clear();
  }

  #clear(): void {
    const count = this.#edges.tokens.length;
    if (count > this.#usd.length) {
      this.#usd = new Float64Array(2 * count);
      this.#width = new Float64Array(2 * count);
      this.#earned = new Float64Array(2 * count).fill(Number.POSITIVE_INFINITY);
      this.#hops = new Uint8Array(2 * count);
      this.#isPriced = new Uint8Array(2 * count);
      this.#firstVote = new Int32Array(2 * count).fill(NONE);
    }
    for (const token of this.order) {
      this.#isPriced[token] = 0;
      this.#firstVote[token] = NONE;
    }
    this.order.length = 0;
    this.#votes = 0;
    this.#candidates.clear();
    this.departed = 0;
  }

  #settle(token: number, { usd, width, hops }: { usd: number; width: number; hops: number }): void {
    this.order.push(token);
    this.#isPriced[token] = 1;
    this.#usd[token] = usd;
    this.#width[token] = width;
    this.#hops[token] = hops;
  }

  /** Adds a vote for every token over one more pool. */
  #expand(from: number): void {
    if (this.hopsOf(from) >= this.#rules.maxHops) return;
    const { arcs, to } = this.#edges.deepArcs(from, this.usdOf(from));
    for (let i = 0; i < arcs.length; i++) {
      const token = to[i] as number;
      if (this.isPriced(token)) continue;
      const arc = arcs[i] as number;
      const width = this.#widthOver(arc);
      if (!(width >= this.#rules.minDepthUsd)) continue;
      const known = this.#firstVote[token] as number;
      if (known === NONE || width >= (this.#voteWidth[known] as number)) this.#candidates.push(arc, width);
      this.#addVote(token, { arc, width });
    }
  }

  #addVote(token: number, { arc, width }: { arc: number; width: number }): void {
    const vote = this.#votes++;
    if (vote === this.#voteArc.length) this.#grow();
    this.#voteArc[vote] = arc;
    this.#voteWidth[vote] = width;
    this.#nextVote[vote] = this.#firstVote[token] as number;
    this.#firstVote[token] = vote;
  }

  #grow(): void {
    const capacity = 2 * this.#voteArc.length;
    this.#voteArc = larger(this.#voteArc, new Int32Array(capacity));
    this.#voteWidth = larger(this.#voteWidth, new Float64Array(capacity));
    this.#nextVote = larger(this.#nextVote, new Int32Array(capacity));
  }

  /** USD behind a pool on its thinner side, walked from a priced token; NaN where its price is absurd. */
  #widthOver(arc: number): number {
    const edges = this.#edges;
    const from = edges.token[arc] as number;
    const usd = this.#usdOver(arc);
    if (!(usd > 0 && usd <= MAX_USD)) return Number.NaN;
    const near = edges.depthOf(arc) * this.usdOf(from);
    return Math.min(near, edges.depthOf(arc ^ 1) * usd, this.#width[from] as number);
  }

  #usdOver(arc: number): number {
    const parentUsd = this.usdOf(this.#edges.token[arc] as number);
    return usdOver(this.#edges.priceOf(arc >> 1), { side: 1 - (arc & 1), parentUsd });
  }

  /** Width and hops of a token from its votes. */
  #reachOf(token: number): { width: number; hops: number } {
    let width = 0;
    let hops = this.#rules.maxHops;
    for (let vote = this.#firstVote[token] as number; vote !== NONE; vote = this.#nextVote[vote] as number) {
      const from = this.#edges.token[this.#voteArc[vote] as number] as number;
      width = Math.max(width, this.#voteWidth[vote] as number);
      hops = Math.min(hops, this.hopsOf(from) + 1);
    }
    return { width, hops };
  }

  #decide(token: number, at: { used: UsedPrice | undefined; now: number }): Verdict {
    const edges = this.#edges;
    const ballot = this.#ballot;
    ballot.clear();
    for (let vote = this.#firstVote[token] as number; vote !== NONE; vote = this.#nextVote[vote] as number) {
      const arc = this.#voteArc[vote] as number;
      const depthUsd = this.#voteWidth[vote] as number;
      const share = Math.max(edges.heldOf(arc >> 1) * edges.agedOf(arc >> 1), LEAST_SHARE);
      const parent = edges.token[arc] as number;
      ballot.add({ arc, parent, usd: this.#usdOver(arc), depthUsd, weight: depthUsd * share });
    }
    return ballot.decide({ ...at, earnedUsd: this.#earned });
  }

  /** Whether a changed edge has a vote, or would now have one. If none has, another walk finds the same prices. */
  isAffectedBy(edge: number): boolean {
    if (this.#edges.isBetweenAnchors(edge)) return true;
    return this.#hadVote(edge) || this.#hasVote(2 * edge) || this.#hasVote(2 * edge + 1);
  }

  #hadVote(edge: number): boolean {
    for (const side of [0, 1]) {
      const token = this.#edges.token[2 * edge + side] as number;
      for (let vote = this.#firstVote[token] ?? NONE; vote !== NONE; vote = this.#nextVote[vote] as number) {
        if ((this.#voteArc[vote] as number) >> 1 === edge) return true;
      }
    }
    return false;
  }

  #hasVote(arc: number): boolean {
    const from = this.#edges.token[arc] as number;
    const to = this.#edges.token[arc ^ 1] as number;
    if (!this.isPriced(from) || to < this.#edges.anchorCount) return false;
    return this.hopsOf(from) < this.#rules.maxHops && this.#widthOver(arc) >= this.#rules.minDepthUsd;
  }
}
