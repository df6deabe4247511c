import type { Departure } from "../../../shared/pricing/departure.ts";
import { roundDepth } from "../../../shared/pricing/round-depth.ts";
import { agree } from "../../../shared/pricing/value-prices.ts";
import type { Support } from "../../price/link.ts";

/** What one pool says of a token's price. */
export interface NaiveVote {
  readonly pool: string;
  /** The token it comes from, and what that has earned. */
  readonly from: string;
  readonly earnedUsd: number;
  readonly usd: number;
  readonly width: number;
  readonly weight: number;
  /** Unix seconds of the pool's last event. */
  readonly lastTime: number;
}

/** A token's price until now. */
export interface NaiveUsed {
  readonly usd: number;
  readonly departure: Departure | undefined;
  /** The price at which pools were followed against others since the last mark. */
  readonly agreedUsd: number | undefined;
}

interface NaiveVerdict<V extends NaiveVote> {
  readonly chosen: V;
  readonly support: Support;
  readonly earnedUsd: number;
  readonly departure: Departure | undefined;
  readonly agreedUsd: number | undefined;
}

interface Counted<V> {
  readonly vote: V;
  readonly usd: number;
  readonly weight: number;
}

/**
 * The decision on one token as docs/prices.md says it, vote by vote.
 * @param at.markedUsd the price in use at the last full five minutes
 */
export function naiveDecision<V extends NaiveVote>(
  own: readonly V[],
  { used, markedUsd, now }: { used: NaiveUsed | undefined; markedUsd: number | undefined; now: number },
): NaiveVerdict<V> {
  const sorted = [...own].sort((a, b) => a.usd - b.usd || (a.pool < b.pool ? -1 : 1));
  const votes = sorted.map((vote) => {
    const excess = sum(sorted.filter(({ from }) => from === vote.from)) / vote.earnedUsd;
    return { vote, usd: vote.usd, weight: excess > 1 ? vote.weight / excess : vote.weight };
  });
  const conclude = (
    chosen: { vote: V },
    departure: Departure | undefined,
    agreedUsd: number | undefined,
  ): NaiveVerdict<V> => {
    const agreeing = votes.filter(({ usd }) => agree(chosen.vote.usd, usd));
    const deepest = agreeing.reduce((best, each) => (isDeeper(each.vote, best.vote) ? each : best)).vote;
    const depthUsd = agreeing.reduce((total, { vote }) => total + vote.width, 0);
    const support = {
      pool: deepest.pool,
      depthUsd: roundDepth(deepest.width),
      restUsd: roundDepth(Math.max(0, depthUsd - deepest.width)),
    };
    return { chosen: chosen.vote, support, earnedUsd: sum(agreeing), departure, agreedUsd };
  };
  const median = medianOf(votes);
  const others =
    othersLeftInSteps(votes, { median, agreedUsd: used?.agreedUsd ?? markedUsd, now }) ??
    (used && othersLeftAtOnce(votes, { median, usedUsd: used.usd }));
  if (others === undefined) return conclude(median, undefined, used?.agreedUsd);
  const rival = medianOf(others);
  const goesOn = used?.departure !== undefined && percent(median.usd, used.departure.usd) <= percent(1.1, 1);
  const departure = goesOn ? (used.departure as Departure) : { since: now, usd: median.usd };
  const minutes = percent(median.usd, rival.usd);
  return (now - departure.since) / 60 < minutes
    ? conclude(rival, departure, used?.agreedUsd)
    : conclude(median, undefined, median.usd);
}

/** One pool has most of the weight and is apart from the others, which are nearer to the price in use. */
function othersLeftAtOnce<V extends NaiveVote>(
  votes: readonly Counted<V>[],
  { median, usedUsd }: { median: Counted<V>; usedUsd: number },
): Counted<V>[] | undefined {
  const others = votes.filter((each) => each !== median);
  const weight = votes.reduce((total, each) => total + each.weight, -median.weight);
  if (others.length === 0 || weight >= median.weight || weight < 0.1 * (weight + median.weight))
    return undefined;
  const rival = medianOf(others);
  const isApart = distance(median.usd, rival.usd) > 0.01;
  return isApart && distance(rival.usd, usedUsd) < distance(median.usd, usedUsd) ? others : undefined;
}

/** The median is away from where all agreed; pools that trade have stayed there. */
function othersLeftInSteps<V extends NaiveVote>(
  votes: readonly Counted<V>[],
  { median, agreedUsd, now }: { median: Counted<V>; agreedUsd: number | undefined; now: number },
): Counted<V>[] | undefined {
  if (agreedUsd === undefined || votes.length === 1) return undefined;
  const went = distance(median.usd, agreedUsd);
  if (went <= 0.01) return undefined;
  const isUp = median.usd > agreedUsd;
  const stayed = votes.filter(({ usd, vote }) => {
    const hasGoneToo = usd > agreedUsd === isUp && distance(usd, agreedUsd) > 0.01;
    const isNearer = distance(usd, agreedUsd) < went;
    return (
      now - vote.lastTime <= 300 &&
      distance(usd, median.usd) > 0.01 &&
      !hasGoneToo &&
      (isNearer || percent(median.usd, agreedUsd) > 5)
    );
  });
  return stayed.length > 0 && sum(stayed) >= 0.1 * sum(votes) ? stayed : undefined;
}

function distance(a: number, b: number): number {
  return Math.abs(Math.log(a / b));
}

/** Steps of 1 % between two prices, compounded. */
function percent(a: number, b: number): number {
  return distance(a, b) / Math.log1p(0.01);
}

function sum(votes: readonly { weight: number }[]): number {
  return votes.reduce((total, { weight }) => total + weight, 0);
}

function medianOf<T extends { weight: number }>(sorted: readonly T[]): T {
  const total = sum(sorted);
  let passed = 0;
  return (
    sorted.find(({ weight }) => {
      passed += weight;
      return passed * 2 >= total;
    }) ?? (sorted[0] as T)
  );
}

function isDeeper(vote: NaiveVote, best: NaiveVote): boolean {
  return vote.width === best.width ? vote.pool < best.pool : vote.width > best.width;
}
