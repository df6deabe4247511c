import {
  areOthers,
  continueDeparture,
  type Departure,
  departureNow,
  distance,
  hasGone,
  hasLeft,
  hasStayed,
  isAwake,
  LEAST_OTHERS,
} from "../../shared/pricing/departure.ts";
import { agree } from "../../shared/pricing/value-prices.ts";
import { weightedMedian } from "../../shared/pricing/weighted-median.ts";
import { AGREED, type Contest, judge } from "./contest.ts";
import type { PoolQuote } from "./pool-quote.ts";
import { type PoolVote, type Refusal, sumOfWeights } from "./pool-vote.ts";

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
  /** While the price, or one that it rests on, may be taken back. */
  readonly refusal: Refusal | undefined;
}

/** The price in use since the last trade of a token. */
export interface UsedPrice {
  readonly usd: number;
  readonly departure: Departure | undefined;
  readonly contest: Contest | undefined;
  /** Where all pools that trade agreed: pools are away from the others if they are away from this. */
  readonly agreedUsd: number;
}

export interface Verdict {
  readonly price: TokenPrice;
  /** The pool that has the price. */
  readonly source: PoolQuote;
  readonly departure: Departure | undefined;
  /** The contest that is open; and the one that this decision ends. */
  readonly contest: Contest | undefined;
  readonly ended: EndedContest | undefined;
  readonly agreedUsd: number;
}

export interface EndedContest {
  readonly contest: Contest;
  readonly isRefused: boolean;
}

const ANCHOR: Omit<TokenPrice, "usd"> = {
  widthUsd: Number.POSITIVE_INFINITY,
  hops: 0,
  earnedUsd: Number.POSITIVE_INFINITY,
  pool: "",
  depthUsd: Number.POSITIVE_INFINITY,
  restUsd: Number.POSITIVE_INFINITY,
  refusal: undefined,
};
export const ANCHOR_PRICE: TokenPrice = { ...ANCHOR, usd: 1 };

/**
 * The weighted median of a token's votes, one at least; while pools with more than half of the weight have left the
 * others and have not held their price for long enough, the weighted median of the others. Pools that are followed
 * against the others open a contest.
 */
export function decide(
  votes: readonly PoolVote[],
  { mint, used, now }: { mint: string; used: UsedPrice | undefined; now: number },
): Verdict {
  const counted = limitByParent(votes);
  const median = weightedMedian(counted) ?? (counted[0] as PoolVote);
  const left = used && findLeft(median, { votes: counted, used, now });
  const departure = left && departureOf(median, { left, before: used?.departure, now });
  const chosen = left !== undefined && departure !== undefined ? left.others : median;
  let contest = used?.contest;
  const isFollowed = left !== undefined && departure === undefined;
  if (isFollowed) contest ??= openContest(used?.departure, { pool: median, left, now });
  const agreedUsd = used === undefined || isFollowed ? median.usd : agreedNow(used, { votes: counted, now });
  const judgement = contest && judge(contest, { votes: counted, chosen, now });
  let { refusal } = chosen;
  let ended: EndedContest | undefined;
  if (contest !== undefined && judgement !== undefined) {
    if (judgement.state === "open") {
      const refusedUsd = judgement.others.usd * (judgement.others.refusal?.factor ?? 1);
      refusal = { mint, since: contest.since, factor: refusedUsd / chosen.usd };
    } else {
      ended = { contest, isRefused: judgement.state === "refused" };
      contest = undefined;
    }
  }
  const price = toPrice(chosen, { votes: counted, refusal });
  return { price, source: chosen.quote, departure, contest, ended, agreedUsd };
}

/** A pool that rests holds no price: it is not followed before it trades again. */
function departureOf(
  pool: PoolVote,
  { left, before, now }: { left: Left; before: Departure | undefined; now: number },
): Departure | undefined {
  const departure = departureNow(before, { pool: pool.usd, others: left.others.usd, now });
  return departure === undefined && !isAwake(pool.quote.time, now)
    ? continueDeparture(before, pool.usd, now)
    : departure;
}

/** Pools that have gone away from where all agreed, and the others, which have not, by their weighted median. */
interface Left {
  readonly pools: readonly string[];
  readonly others: PoolVote;
}

function openContest(
  departure: Departure | undefined,
  { pool, left, now }: { pool: PoolVote; left: Left; now: number },
): Contest {
  const { since } = continueDeparture(departure, pool.usd, now);
  return { since, pools: left.pools, poolUsd: pool.usd, othersUsd: left.others.usd };
}

interface Market {
  readonly votes: readonly PoolVote[];
  readonly used: UsedPrice;
  readonly now: number;
}

function findLeft(median: PoolVote, market: Market): Left | undefined {
  if (market.votes.length === 1) return undefined;
  return leftAtOnce(median, market) ?? leftTogether(median, market);
}

/** By one pool that has more than half of the weight, and has moved while the others have not. */
function leftAtOnce(pool: PoolVote, { votes, used }: Market): Left | undefined {
  const rest = votes.filter((vote) => vote !== pool);
  if (!areOthers({ pool: pool.weight, others: sumOfWeights(rest) })) return undefined;
  const others = weightedMedian(rest) as PoolVote;
  if (!hasLeft({ pool: pool.usd, others: others.usd, used: used.usd })) return undefined;
  return { pools: [pool.quote.pool], others };
}

/**
 * By one or several pools, in steps of any size, while others that trade stay where all agreed. Those that rest do not
 * say that the first ones have left them.
 */
function leftTogether(median: PoolVote, { votes, used: { agreedUsd }, now }: Market): Left | undefined {
  if (distance(median.usd, agreedUsd) <= AGREED) return undefined;
  const going = { median: median.usd, agreedUsd, within: AGREED };
  const staying = votes.filter(({ usd, quote }) => isAwake(quote.time, now) && hasStayed(usd, going));
  if (sumOfWeights(staying) < LEAST_OTHERS * sumOfWeights(votes)) return undefined;
  const others = weightedMedian(staying);
  if (others === undefined) return undefined;
  const gone = votes.filter(({ usd }) => hasGone(usd, going));
  return { pools: gone.map(({ quote }) => quote.pool), others };
}

/**
 * Where all agree: moves only as far as more than nine tenths of the weight of those that trade have gone beyond it, and
 * not while most of the weight rests.
 */
function agreedNow({ agreedUsd }: UsedPrice, { votes, now }: Pick<Market, "votes" | "now">): number {
  let [awakeWeight, below, above] = [0, 0, 0];
  for (const vote of votes) {
    if (!isAwake(vote.quote.time, now)) continue;
    const { usd, weight } = vote;
    awakeWeight += weight;
    if (usd <= agreedUsd) below += weight;
    if (usd >= agreedUsd) above += weight;
  }
  const enough = LEAST_OTHERS * awakeWeight;
  // The usual case needs no sort.
  if ((below >= enough && above >= enough) || 2 * awakeWeight <= sumOfWeights(votes)) return agreedUsd;
  const awake = votes.filter(({ quote }) => isAwake(quote.time, now)).sort((a, b) => a.usd - b.usd);
  const reached = below < enough ? reach(awake, enough) : reach(awake.reverse(), enough);
  return reached ?? agreedUsd;
}

/** The price of the first vote with which these have so much weight. */
function reach(votes: readonly PoolVote[], enough: number): number | undefined {
  let passed = 0;
  for (const { usd, weight } of votes) {
    passed += weight;
    if (weight > 0 && passed >= enough) return usd;
  }
  return undefined;
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

function toPrice(
  { usd }: PoolVote,
  { votes, refusal }: { votes: readonly PoolVote[]; refusal: Refusal | undefined },
): TokenPrice {
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
  return { usd, widthUsd, hops, earnedUsd, pool: support.pool, depthUsd, restUsd, refusal };
}

function isDeeper(a: PoolVote, b: PoolVote): boolean {
  return a.depthUsd === b.depthUsd ? a.quote.pool < b.quote.pool : a.depthUsd > b.depthUsd;
}
