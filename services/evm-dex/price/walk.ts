import { type Candidate, Candidates, detoursOf, hopsOf, tieOf } from "./candidates.ts";
import type { EdgeBook } from "./edges.ts";
import { usdOver } from "./link.ts";

export interface WalkRules {
  readonly minDepthUsd: number;
  readonly maxHops: number;
}

export const DEFAULT_RULES: WalkRules = { minDepthUsd: 10_000, maxHops: 4 };

export const NONE = -1;
const UNREACHED = 255;

/**
 * USD prices by a best-first walk from the anchors, 1 USD each.
 * A path's width is the USD behind its weakest pool, counted on the side the pool is walked from and at that token's
 * own price. A token is priced over its widest path of at most maxHops pools with at least minDepthUsd behind each.
 * Equal widths go to the path that rests on its tokens' own prices, then to the shorter one, then to the lower pool
 * address: the result is a function of the edges, not of their order.
 * The first path that reaches a token is therefore the widest. A later one, narrower but shorter, is kept beside it:
 * it does not change this token's price, but extends where the widest path has reached maxHops. So a token within
 * maxHops pools is never lost because a pool on its way is reached over a wider but longer path. A path never visits
 * a token twice: the second time it would be neither wider nor shorter.
 */
export class Walk {
  readonly #edges: EdgeBook;
  readonly #rules: WalkRules;
  readonly #candidates: Candidates;

  /** Paths found, by number: anchors first, then in order of width. */
  count = 0;
  readonly token: number[] = [];
  /** The path's last arc. */
  readonly arc: number[] = [];
  /** The path that it extends. */
  readonly parent: number[] = [];
  readonly usd: number[] = [];
  readonly #width: number[] = [];
  /** Its hops, and at how many tokens it leaves their own path: see tieOf. */
  readonly #tie: number[] = [];
  /** The same token's next wider, longer path. */
  readonly #wider: number[] = [];
  /** By token: its own path, its shortest and that one's hops, and its best candidate so far. */
  #own = new Int32Array(0);
  #shortest = new Int32Array(0);
  #fewestHops = new Uint8Array(0);
  #bestCandidate = new Int32Array(0);

  constructor(edges: EdgeBook, rules: WalkRules) {
    this.#edges = edges;
    this.#rules = rules;
    this.#candidates = new Candidates(edges.pools);
  }

  /** A token's own path, or NONE. */
  pathOf(token: number): number {
    return this.#own[token] ?? NONE;
  }

  /** Whether it is its token's own path, the widest. */
  isOwn(path: number): boolean {
    return this.#own[this.token[path] as number] === path;
  }

  run(): void {
    this.#clear();
    const anchors = this.#edges.anchorCount;
    for (let token = 0; token < anchors; token++) {
      this.#settle(token, { arc: NONE, parent: NONE, usd: 1, width: Number.POSITIVE_INFINITY, tie: 0 });
    }
    for (let path = 0; path < anchors; path++) this.#expand(path);
    const candidates = this.#candidates;
    for (let next = candidates.pop(); next !== NONE; next = candidates.pop()) {
      const arc = candidates.arc[next] as number;
      const tie = candidates.tie[next] as number;
      const token = this.#edges.token[arc ^ 1] as number;
      if (hopsOf(tie) >= (this.#fewestHops[token] as number)) continue;
      const parent = candidates.parent[next] as number;
      const usd = this.#usdOver(arc, parent);
      this.#settle(token, { arc, parent, usd, width: candidates.width[next] as number, tie });
      this.#expand(this.count - 1);
    }
    candidates.clear();
  }

  #clear(): void {
    const tokens = this.#edges.tokens.length;
    if (tokens > this.#own.length) {
      this.#own = new Int32Array(2 * tokens).fill(NONE);
      this.#shortest = new Int32Array(2 * tokens).fill(NONE);
      this.#fewestHops = new Uint8Array(2 * tokens).fill(UNREACHED);
      this.#bestCandidate = new Int32Array(2 * tokens).fill(NONE);
    } else {
      for (let path = 0; path < this.count; path++) {
        const token = this.token[path] as number;
        this.#own[token] = NONE;
        this.#shortest[token] = NONE;
        this.#fewestHops[token] = UNREACHED;
        this.#bestCandidate[token] = NONE;
      }
    }
    this.count = 0;
  }

  #settle(token: number, { arc, parent, usd, width, tie }: Candidate & { usd: number }): void {
    const path = this.count++;
    this.token[path] = token;
    this.arc[path] = arc;
    this.parent[path] = parent;
    this.usd[path] = usd;
    this.#width[path] = width;
    this.#tie[path] = tie;
    this.#wider[path] = this.#shortest[token] as number;
    this.#shortest[token] = path;
    this.#fewestHops[token] = hopsOf(tie);
    if (this.#own[token] === NONE) this.#own[token] = path;
  }

  /** Offers the paths over one more pool. */
  #expand(path: number): void {
    const tie = this.#tieBeyond(path);
    const hops = hopsOf(tie);
    if (hops > this.#rules.maxHops) return;
    const { depth } = this.#edges;
    const from = this.token[path] as number;
    const ownUsd = this.usd[this.#own[from] as number] as number;
    const reach = this.#width[path] as number;
    const { arcs, to } = this.#edges.deepArcs(from, ownUsd);
    for (let i = 0; i < arcs.length; i++) {
      const token = to[i] as number;
      if (hops >= (this.#fewestHops[token] as number)) continue;
      const arc = arcs[i] as number;
      const width = Math.min((depth[arc] as number) * ownUsd, reach);
      if (!(width >= this.#rules.minDepthUsd) || this.#isDominated(token, width, hops)) continue;
      this.#offer(token, { arc, parent: path, width, tie });
    }
  }

  /** Whether a wider candidate of no more hops is known: nearly all end here. */
  #isDominated(token: number, width: number, hops: number): boolean {
    const known = this.#bestCandidate[token] as number;
    if (known === NONE) return false;
    const { width: widths, tie: ties } = this.#candidates;
    return width < (widths[known] as number) && hopsOf(ties[known] as number) <= hops;
  }

  /** A candidate neither better nor shorter than another for the same token would never be used. */
  #offer(token: number, candidate: Candidate): void {
    const candidates = this.#candidates;
    const known = this.#bestCandidate[token] as number;
    const isBetter = known === NONE || candidates.isBetter(candidate, known);
    if (!isBetter && hopsOf(candidates.tie[known] as number) <= hopsOf(candidate.tie)) return;
    if (!isUsable(this.#usdOver(candidate.arc, candidate.parent))) return;
    const id = candidates.push(candidate);
    if (isBetter) this.#bestCandidate[token] = id;
  }

  #widthOver(arc: number, path: number): number {
    const ownUsd = this.usd[this.#own[this.token[path] as number] as number] as number;
    return Math.min((this.#edges.depth[arc] as number) * ownUsd, this.#width[path] as number);
  }

  #usdOver(arc: number, path: number): number {
    const price = this.#edges.price[arc >> 1] as number;
    return usdOver(price, { side: 1 - (arc & 1), parentUsd: this.usd[path] as number });
  }

  /** The tie of a path that extends this one. */
  #tieBeyond(path: number): number {
    const tie = this.#tie[path] as number;
    return tieOf(detoursOf(tie) + (this.isOwn(path) ? 0 : 1), hopsOf(tie) + 1);
  }

  /**
   * Whether a changed edge is part of the paths found, or would now be. If no changed edge is, another walk finds the
   * same paths.
   */
  isAffectedBy(edge: number): boolean {
    for (let arc = 2 * edge; arc <= 2 * edge + 1; arc++) {
      const from = this.#edges.token[arc] as number;
      for (let path = this.#shortest[from] ?? NONE; path !== NONE; path = this.#wider[path] as number) {
        if ((this.arc[path] as number) >> 1 === edge || this.#wouldExtend(arc, path)) return true;
      }
    }
    return false;
  }

  #wouldExtend(arc: number, path: number): boolean {
    const tie = this.#tieBeyond(path);
    const width = this.#widthOver(arc, path);
    if (hopsOf(tie) > this.#rules.maxHops || !(width >= this.#rules.minDepthUsd)) return false;
    if (!isUsable(this.#usdOver(arc, path))) return false;
    const to = this.#edges.token[arc ^ 1] as number;
    for (let known = this.#shortest[to] ?? NONE; known !== NONE; known = this.#wider[known] as number) {
      if (hopsOf(this.#tie[known] as number) > hopsOf(tie)) continue;
      if (!this.#isBetter({ arc, width, tie }, known)) return false;
    }
    return true;
  }

  #isBetter(options: Omit<Candidate, "parent">, known: number): boolean {
    const width = this.#width[known] as number;
    if (options.width !== width) return options.width > width;
    const tie = this.#tie[known] as number;
    if (options.tie !== tie) return options.tie < tie;
    const { pools } = this.#edges;
    return (pools[options.arc >> 1] as string) < (pools[(this.arc[known] as number) >> 1] as string);
  }
}

function isUsable(usd: number): boolean {
  return usd > 0 && Number.isFinite(usd);
}
