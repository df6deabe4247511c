import { type Vote, weightedMedian } from "../../shared/pricing/weighted-median.ts";
import type { EdgeBook } from "./edges.ts";

/** An anchor this near to 1 USD is worth 1 USD. */
const PEG_BAND = 0.005;
/** Fewer opinions cannot tell which of two anchors has moved. */
const LEAST_OPINIONS = 3;

/**
 * USD prices of the anchors. Of those with a feed: the feed's, where one near 1 USD is 1. Of the others: the median of
 * what each other anchor says of it, taken as 1 USD or what its feed says, and of its own 1. What one says of another is
 * the median of their pools by held depth and age, of at least the minimum depth. An anchor that has lost its peg is
 * outvoted by those that have not; with fewer than two others all remain at 1.
 * @param given USD by anchor, from feeds; undefined: no feed, or one that does not count
 */
export function anchorPrices(
  edges: EdgeBook,
  minDepthUsd: number,
  given: readonly (number | undefined)[] = [],
): number[] {
  const usdOf = (anchor: number) => atPeg(given[anchor] ?? 1);
  const opinions = Array.from({ length: edges.anchorCount }, () => new Map<number, Vote[]>());
  for (const edge of edges.anchorEdges) {
    const [token0, token1] = [edges.token[2 * edge] as number, edges.token[2 * edge + 1] as number];
    const price = edges.priceOf(edge);
    const depth = Math.min(edges.depthOf(2 * edge), edges.depthOf(2 * edge + 1));
    const weight = depth * edges.heldOf(edge) * edges.agedOf(edge);
    if (!(weight >= minDepthUsd) || !(price > 0)) continue;
    addVote(opinions[token0] as Map<number, Vote[]>, token1, { usd: price * usdOf(token1), weight });
    addVote(opinions[token1] as Map<number, Vote[]>, token0, { usd: usdOf(token0) / price, weight });
  }
  return opinions.map((said, anchor) =>
    given[anchor] === undefined
      ? pegged([1, ...[...said.values()].map((votes) => weightedMedian(votes)?.usd ?? 1)])
      : usdOf(anchor),
  );
}

/** 1 for what is near it: prices that rest on an anchor do not change with every cent of its feed. */
export function atPeg(usd: number): number {
  return Math.abs(usd - 1) <= PEG_BAND ? 1 : usd;
}

function addVote(by: Map<number, Vote[]>, anchor: number, vote: Vote): void {
  const votes = by.get(anchor);
  if (votes === undefined) by.set(anchor, [vote]);
  else votes.push(vote);
}

/** The median; of two middles the one nearer to 1. */
function pegged(opinions: number[]): number {
  if (opinions.length < LEAST_OPINIONS) return 1;
  const sorted = opinions.sort((a, b) => a - b);
  const low = sorted[(sorted.length - 1) >> 1] as number;
  const high = sorted[sorted.length >> 1] as number;
  const usd = Math.abs(Math.log(low)) < Math.abs(Math.log(high)) ? low : high;
  return atPeg(usd);
}
