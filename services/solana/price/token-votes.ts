import { areOthers, type Departure, departureNow, hasLeft } from "../../shared/pricing/departure.ts";
import { agree } from "../../shared/pricing/value-prices.ts";
import { weightedMedian } from "../../shared/pricing/weighted-median.ts";
import type { PoolQuote } from "./pool-quote.ts";

/** What a pool says of a token's price. */
export interface PoolVote {
  readonly quote: PoolQuote;
  readonly usd: number;
  /** USD behind the thinnest pool of the path, on either side. */
  readonly widthUsd: number;
  /** What of it has been held, and supports values. */
  readonly depthUsd: number;
  readonly weight: number;
  /** Pools to an anchor. */
  readonly hops: number;
  /** What all votes over the same parent weigh together at most. */
  readonly parentEarnedUsd: number;
}

/** The price of a token, and the money behind it in USD. */
export interface TokenPrice {
  readonly usd: number;
  /** Of its widest pool; Infinity for an anchor. */
  readonly widthUsd: number;
  readonly hops: number;
  /** Weight of the votes that agree: what the token's pools may vote with elsewhere. */
  readonly earnedUsd: number;
  /** The deepest pool that agrees, what it supports, and the same of all others that agree. */
  readonly pool: string;
  readonly depthUsd: number;
  readonly restUsd: number;
}

/** The price in use since the last trade of a token. */
export interface UsedPrice {
  readonly usd: number;
  readonly departure: Departure | undefined;
}

export interface Verdict {
  readonly price: TokenPrice;
  /** The pool that has the price. */
  readonly source: PoolQuote;
  readonly departure: Departure | undefined;
}

const ANCHOR: Omit<TokenPrice, "usd"> = {
  widthUsd: Number.POSITIVE_INFINITY,
  hops: 0,
  earnedUsd: Number.POSITIVE_INFINITY,
  pool: "",
  depthUsd: Number.POSITIVE_INFINITY,
  restUsd: Number.POSITIVE_INFINITY,
};
export const ANCHOR_PRICE: TokenPrice = { ...ANCHOR, usd: 1 };

/**
 * The weighted median of a token's votes, one at least; while one pool with more than half of the weight has left the
 * others and has not held its price for long enough, the weighted median of the others.
 */
export function decide(
  votes: readonly PoolVote[],
  { used, now }: { used: UsedPrice | undefined; now: number },
): Verdict {
  const counted = limitByParent(votes);
  const median = weightedMedian(counted) ?? (counted[0] as PoolVote);
  const others = used === undefined ? undefined : othersLeftBy(median, { votes: counted, used: used.usd });
  if (others === undefined) return toVerdict(median, { votes: counted, departure: undefined });
  const departure = departureNow(used?.departure, { pool: median.usd, others: others.usd, now });
  return toVerdict(departure === undefined ? median : others, { votes: counted, departure });
}

function othersLeftBy(
  pool: PoolVote,
  { votes, used }: { votes: readonly PoolVote[]; used: number },
): PoolVote | undefined {
  if (votes.length === 1) return undefined;
  const rest = votes.filter((vote) => vote !== pool);
  let weight = 0;
  for (const vote of rest) weight += vote.weight;
  if (!areOthers({ pool: pool.weight, others: weight })) return undefined;
  const others = weightedMedian(rest) as PoolVote;
  return hasLeft({ pool: pool.usd, others: others.usd, used }) ? others : undefined;
}

/** However many pools a token is split over, they say no more of another one than what it is priced by itself. */
function limitByParent(votes: readonly PoolVote[]): readonly PoolVote[] {
  if (votes.every(({ weight, parentEarnedUsd }) => weight * votes.length <= parentEarnedUsd)) return votes;
  const sums = new Map<string, number>();
  for (const { quote, weight } of votes) sums.set(quote.parent, (sums.get(quote.parent) ?? 0) + weight);
  return votes.map((vote) => {
    const excess = (sums.get(vote.quote.parent) as number) / vote.parentEarnedUsd;
    return excess > 1 ? { ...vote, weight: vote.weight / excess } : vote;
  });
}

function toVerdict(
  { usd, quote }: PoolVote,
  { votes, departure }: { votes: readonly PoolVote[]; departure: Departure | undefined },
): Verdict {
  let widthUsd = 0;
  let hops = Number.POSITIVE_INFINITY;
  let earnedUsd = 0;
  let supportedUsd = 0;
  let deepest: PoolVote | undefined;
  for (const vote of votes) {
    widthUsd = Math.max(widthUsd, vote.widthUsd);
    hops = Math.min(hops, vote.hops);
    if (!agree(usd, vote.usd)) continue;
    earnedUsd += vote.weight;
    supportedUsd += vote.depthUsd;
    if (deepest === undefined || isDeeper(vote, deepest)) deepest = vote;
  }
  const { quote: support, depthUsd } = deepest as PoolVote;
  const restUsd = supportedUsd - depthUsd;
  return {
    price: { usd, widthUsd, hops, earnedUsd, pool: support.pool, depthUsd, restUsd },
    source: quote,
    departure,
  };
}

function isDeeper(a: PoolVote, b: PoolVote): boolean {
  return a.depthUsd === b.depthUsd ? a.quote.pool < b.quote.pool : a.depthUsd > b.depthUsd;
}
