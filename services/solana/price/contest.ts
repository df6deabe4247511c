import { distance, LEAST_OTHERS } from "../../shared/pricing/departure.ts";
import { weightedMedian } from "../../shared/pricing/weighted-median.ts";
import { type PoolVote, sumOfWeights } from "./pool-vote.ts";

/**
 * Pools within this of each other agree. Less than the 1 % of shared/pricing/departure.ts: what a pool may do in small
 * steps, and what candles show beyond the others, stay below 1 % together.
 */
export const AGREED = 0.008;
/** What stands against the others for a day is the price, whatever they say. */
const MOST_SECONDS = 86_400;

/**
 * A token follows pools that have left the others, while these still say otherwise. The price is taken back if the pools
 * come back to them or lose their vote, and is confirmed if the others come to it or lose theirs.
 */
export interface Contest {
  /** Unix seconds when the pools left the others: with the token, the name of the contest. */
  readonly since: number;
  /** Usually one. */
  readonly pools: readonly string[];
  /** Prices when they were followed. */
  readonly poolUsd: number;
  readonly othersUsd: number;
}

export type Judgement =
  | { readonly state: "open"; readonly others: PoolVote }
  | { readonly state: "refused" | "confirmed" };

/**
 * @param at.votes those that count
 * @param at.chosen the vote that has the price
 */
export function judge(
  contest: Contest,
  { votes, chosen, now }: { votes: readonly PoolVote[]; chosen: PoolVote; now: number },
): Judgement {
  const own = votes.filter(({ quote }) => contest.pools.includes(quote.pool));
  const rest = votes.filter(({ quote }) => !contest.pools.includes(quote.pool));
  const pool = weightedMedian(own);
  if (pool === undefined) return { state: "refused" };
  const others = weightedMedian(rest);
  if (others === undefined || sumOfWeights(rest) < LEAST_OTHERS * sumOfWeights(votes))
    return { state: "confirmed" };
  if (distance(pool.usd, others.usd) <= AGREED) {
    const isBack = distance(others.usd, contest.othersUsd) <= distance(others.usd, contest.poolUsd);
    return { state: isBack ? "refused" : "confirmed" };
  }
  if (distance(chosen.usd, others.usd) < distance(chosen.usd, pool.usd)) return { state: "refused" };
  return now - contest.since > MOST_SECONDS ? { state: "confirmed" } : { state: "open", others };
}
