import { areOthers, type Departure, departureNow, hasLeft } from "../../../shared/pricing/departure.ts";
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
}

interface NaiveVerdict<V extends NaiveVote> {
  readonly chosen: V;
  readonly support: Support;
  readonly earnedUsd: number;
  readonly departure: Departure | undefined;
}

/** The decision on one token as docs/prices.md says it, vote by vote. */
export function naiveDecision<V extends NaiveVote>(
  own: readonly V[],
  { used, now }: { used: { usd: number; departure: Departure | undefined } | undefined; now: number },
): NaiveVerdict<V> {
  const sorted = [...own].sort((a, b) => a.usd - b.usd || (a.pool < b.pool ? -1 : 1));
  const votes = sorted.map((vote) => {
    const excess = sum(sorted.filter(({ from }) => from === vote.from)) / vote.earnedUsd;
    return { vote, usd: vote.usd, weight: excess > 1 ? vote.weight / excess : vote.weight };
  });
  const conclude = (chosen: { vote: V }, departure: Departure | undefined): NaiveVerdict<V> => {
    const agreeing = votes.filter(({ usd }) => agree(chosen.vote.usd, usd));
    const deepest = agreeing.reduce((best, each) => (isDeeper(each.vote, best.vote) ? each : best)).vote;
    const depthUsd = agreeing.reduce((total, { vote }) => total + vote.width, 0);
    const support = {
      pool: deepest.pool,
      depthUsd: roundDepth(deepest.width),
      restUsd: roundDepth(Math.max(0, depthUsd - deepest.width)),
    };
    return { chosen: chosen.vote, support, earnedUsd: sum(agreeing), departure };
  };
  const median = medianOf(votes);
  const rest = votes.filter((each) => each !== median);
  const others = votes.reduce((total, { weight }) => total + weight, -median.weight);
  if (used === undefined || rest.length === 0 || !areOthers({ pool: median.weight, others })) {
    return conclude(median, undefined);
  }
  const rival = medianOf(rest);
  if (!hasLeft({ pool: median.usd, others: rival.usd, used: used.usd })) return conclude(median, undefined);
  const departure = departureNow(used.departure, { pool: median.usd, others: rival.usd, now });
  return conclude(departure === undefined ? median : rival, departure);
}

function sum(votes: readonly { weight: number }[]): number {
  return votes.reduce((total, { weight }) => total + weight, 0);
}

function medianOf<T extends { weight: number }>(sorted: readonly T[]): T {
  const total = sum(sorted);
  let passed = 0;
  return sorted.find(({ weight }) => {
    passed += weight;
    return passed * 2 >= total;
  }) as T;
}

function isDeeper(vote: NaiveVote, best: NaiveVote): boolean {
  return vote.width === best.width ? vote.pool < best.pool : vote.width > best.width;
}
