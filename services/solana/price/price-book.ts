import { ANCHORS, MAX_HOPS, MAX_PRICE_USD, MIN_DEPTH_USD } from "./limits.ts";
import { heldOf, type PoolQuote, reversed, trustedRatio, weightOf } from "./pool-quote.ts";
import type { PoolVote } from "./pool-vote.ts";
import {
  ANCHOR_PRICE,
  decide,
  type EndedContest,
  type TokenPrice,
  type UsedPrice,
  type Verdict,
} from "./token-votes.ts";

/** Pools of a token that are kept: those with the most weight, and of the others the widest, that they may earn some. */
const KEPT_HEAVIEST = 12;
const KEPT_WIDEST = 4;

/** What is known of a token's price. Never changed: replaced. */
export interface PriceEntry {
  readonly mint: string;
  /** By pool, in the order of their addresses; each pool is in the list of one of its tokens. */
  readonly quotes: readonly PoolQuote[];
  /** As of the last trade; undefined while no pool is wide enough. */
  readonly used: UsedPrice | undefined;
  /** The pool that has that price, or of all others the widest; and USD behind it. */
  readonly source: PoolQuote;
  readonly depthUsd: number;
  readonly slot: number;
}

/** The end of a contest about a token's price. */
export interface PriceVerdict extends EndedContest {
  readonly mint: string;
  readonly slot: number;
}

/** No pool is wide enough: the pool of an open contest among them has lost its vote. */
const NO_PRICE = {
  ...{ price: undefined, source: undefined, departure: undefined, contest: undefined },
  agreedUsd: Number.NaN,
};

interface Evaluation {
  readonly entry: PriceEntry;
  readonly time: number;
  /** By quote. */
  readonly parents: readonly (TokenPrice | undefined)[];
  readonly price: TokenPrice | undefined;
  readonly votes: readonly PoolVote[];
}

/**
 * Tokens' pools and the prices that follow from them. A token's price rests on those of its pools' other tokens, never on
 * itself: a pool is a quote of the token that rests on the other.
 */
export class PriceBook {
  readonly #entries = new Map<string, PriceEntry>();
  readonly #changed = new Set<string>();
  #verdicts: PriceVerdict[] = [];
  readonly #evaluations = new Map<string, Evaluation>();
  readonly #anchors: ReadonlySet<string>;
  readonly #minDepthUsd: number;

  constructor(options: { anchors?: readonly string[]; minDepthUsd?: number } = {}) {
    this.#anchors = new Set(options.anchors ?? ANCHORS);
    this.#minDepthUsd = options.minDepthUsd ?? MIN_DEPTH_USD;
  }

  clear(): void {
    this.#entries.clear();
    this.#evaluations.clear();
    this.#changed.clear();
    this.#verdicts = [];
  }

  /** Adds stored entries; they do not count as changed. */
  load(entries: Iterable<PriceEntry>): void {
    for (const entry of entries) this.#entries.set(entry.mint, entry);
  }

  entry(mint: string): PriceEntry | undefined {
    return this.#entries.get(mint);
  }

  /** Mints whose entry changed or went since the last call. */
  drainChanged(): string[] {
    const changed = [...this.#changed];
    this.#changed.clear();
    return changed;
  }

  /** Contests that ended since the last call. */
  drainVerdicts(): PriceVerdict[] {
    const verdicts = this.#verdicts;
    if (verdicts.length > 0) this.#verdicts = [];
    return verdicts;
  }

  isAnchor(mint: string): boolean {
    return this.#anchors.has(mint);
  }

  /** As of `time`, Unix seconds; undefined where no pools of sufficient depth lead to an anchor. */
  price(mint: string, time: number): TokenPrice | undefined {
    if (this.isAnchor(mint)) return ANCHOR_PRICE;
    const entry = this.#entries.get(mint);
    return entry && this.#evaluate(entry, time).price;
  }

  /** A vote of each of a token's pools whose other token has a price, however thin the pool. */
  votes(mint: string, time: number): readonly PoolVote[] {
    const entry = this.#entries.get(mint);
    return entry === undefined ? [] : this.#evaluate(entry, time).votes;
  }

  /** The quote of a pool among those of one token. */
  quote(mint: string, pool: string): PoolQuote | undefined {
    return this.#entries.get(mint)?.quotes.find((quote) => quote.pool === pool);
  }

  /** Adds or replaces a pool's quote of a token, and decides its price anew. */
  put(mint: string, quote: PoolQuote, at: { slot: number; time: number }): void {
    const known = this.#entries.get(mint);
    const others = known?.quotes.filter(({ pool }) => pool !== quote.pool) ?? [];
    const quotes = [...others, quote].sort((a, b) => (a.pool < b.pool ? -1 : 1));
    this.#settle(known ?? { mint, used: undefined }, { quotes, ...at });
  }

  /** Makes all quotes of a token over another one quotes of that other one, and decides both prices anew. */
  turn(mint: string, other: string, at: { slot: number; time: number }): void {
    const entry = this.#entries.get(mint) as PriceEntry;
    const turned = entry.quotes.filter(({ parent }) => parent === other);
    const left = entry.quotes.filter(({ parent }) => parent !== other);
    if (left.length > 0) this.#settle(entry, { quotes: left, ...at });
    else this.#remove(mint);
    for (const quote of turned) this.put(other, reversed(quote, mint), at);
  }

  /** Whether the price of `mint` may rest on that of `other`; pools between the two are not looked at with `except`. */
  restsOn(mint: string, other: string, options: { exceptDirectly?: boolean } = {}): boolean {
    const seen = new Set([mint]);
    const open = [mint];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (at === other) return true;
      for (const { parent } of this.#entries.get(at)?.quotes ?? []) {
        if (seen.has(parent) || (options.exceptDirectly === true && at === mint && parent === other))
          continue;
        seen.add(parent);
        open.push(parent);
      }
    }
    return false;
  }

  #remove(mint: string): void {
    this.#entries.delete(mint);
    this.#evaluations.delete(mint);
    this.#changed.add(mint);
  }

  #settle(
    { mint, used }: Pick<PriceEntry, "mint" | "used">,
    { quotes: all, slot, time }: { quotes: readonly PoolQuote[]; slot: number; time: number },
  ): void {
    const quotes = this.#keepBest(all, time);
    const parents = this.#parentPrices(quotes, time);
    const votes = this.#toVotes(quotes, { parents, time });
    const verdict = this.#decide(votes, { mint, used, time });
    const { price, source, departure, contest, agreedUsd, ended } = verdict;
    if (ended !== undefined) this.#verdicts.push({ mint, slot, ...ended });
    const widest = widestOf(votes);
    const entry: PriceEntry = {
      mint,
      quotes,
      used: price && { usd: price.usd, departure, contest, agreedUsd },
      source: source ?? widest?.quote ?? (quotes[0] as PoolQuote),
      depthUsd: price?.depthUsd ?? widest?.widthUsd ?? 0,
      slot,
    };
    this.#entries.set(mint, entry);
    this.#evaluations.set(mint, { entry, time, parents, price, votes });
    this.#changed.add(mint);
  }

  /** Computed again only for another time, or where a price that it rests on has changed. */
  #evaluate(entry: PriceEntry, time: number): Evaluation {
    const parents = this.#parentPrices(entry.quotes, time);
    const known = this.#evaluations.get(entry.mint);
    if (known?.entry === entry && known.time === time && isSame(known.parents, parents)) return known;
    const votes = this.#toVotes(entry.quotes, { parents, time });
    const { price } = this.#decide(votes, { mint: entry.mint, used: entry.used, time });
    const evaluation = { entry, time, parents, price, votes };
    this.#evaluations.set(entry.mint, evaluation);
    return evaluation;
  }

  #decide(
    votes: readonly PoolVote[],
    { mint, used, time }: { mint: string; used: UsedPrice | undefined; time: number },
  ): Verdict | (typeof NO_PRICE & Pick<Verdict, "ended">) {
    const wide = votes.filter(({ widthUsd }) => widthUsd >= this.#minDepthUsd);
    if (wide.length > 0) return decide(wide, { mint, used, now: time });
    const ended = used?.contest && { contest: used.contest, isRefused: true };
    return { ...NO_PRICE, ended };
  }

  #parentPrices(quotes: readonly PoolQuote[], time: number): (TokenPrice | undefined)[] {
    return quotes.map(({ parent }) => this.price(parent, time));
  }

  #toVotes(
    quotes: readonly PoolQuote[],
    { parents, time }: { parents: readonly (TokenPrice | undefined)[]; time: number },
  ): PoolVote[] {
    const votes: PoolVote[] = [];
    quotes.forEach((quote, i) => {
      const vote = this.#toVote(quote, { parent: parents[i], time });
      if (vote !== undefined) votes.push(vote);
    });
    return votes;
  }

  #toVote(
    quote: PoolQuote,
    { parent, time }: { parent: TokenPrice | undefined; time: number },
  ): PoolVote | undefined {
    if (parent === undefined || parent.hops >= MAX_HOPS) return undefined;
    const usd = trustedRatio(quote, time) * parent.usd;
    if (!(usd > 0 && usd <= MAX_PRICE_USD)) return undefined;
    const widthUsd = Math.min(quote.parentDepth * parent.usd, quote.depth * usd, parent.widthUsd);
    return {
      quote,
      usd,
      widthUsd,
      // What is too young to have held anything supports what a pool of the least depth would.
      depthUsd: Math.max(widthUsd * heldOf(quote, time), Math.min(widthUsd, this.#minDepthUsd)),
      weight: weightOf(quote, { widthUsd, now: time }),
      hops: parent.hops + 1,
      parentEarnedUsd: parent.earnedUsd,
      refusal: parent.refusal,
    };
  }

  #keepBest(quotes: readonly PoolQuote[], time: number): readonly PoolQuote[] {
    if (quotes.length <= KEPT_HEAVIEST + KEPT_WIDEST) return quotes;
    const parents = this.#parentPrices(quotes, time);
    const ranked = quotes.map((quote, i) => this.#toVote(quote, { parent: parents[i], time }) ?? { quote });
    const heaviest = [...ranked].sort((a, b) => figure(b, "weight") - figure(a, "weight"));
    const rest = heaviest.slice(KEPT_HEAVIEST).sort((a, b) => figure(b, "widthUsd") - figure(a, "widthUsd"));
    const dropped = new Set(rest.slice(KEPT_WIDEST).map(({ quote }) => quote));
    return quotes.filter((quote) => !dropped.has(quote));
  }
}

function figure(vote: Partial<PoolVote>, name: "weight" | "widthUsd"): number {
  return vote[name] ?? 0;
}

function widestOf(votes: readonly PoolVote[]): PoolVote | undefined {
  let widest: PoolVote | undefined;
  for (const vote of votes) if (widest === undefined || vote.widthUsd > widest.widthUsd) widest = vote;
  return widest;
}

function isSame(before: readonly unknown[], now: readonly unknown[]): boolean {
  return before.every((price, i) => price === now[i]);
}
