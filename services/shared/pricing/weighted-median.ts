/** One opinion of a price, and how much it counts. */
export interface Vote {
  readonly usd: number;
  /** USD; a weight of 0 never decides. */
  readonly weight: number;
}

/**
 * The vote whose price has half of all weight at or below it: whoever holds less than half of the weight cannot move
 * the result out of the range of the others. Equal prices count in the order of the list. Undefined without weight.
 */
export function weightedMedian<V extends Vote>(votes: readonly V[]): V | undefined {
  if (votes.length === 1) return (votes[0] as V).weight > 0 ? votes[0] : undefined;
  let total = 0;
  for (const vote of votes) total += vote.weight;
  let passed = 0;
  for (const vote of [...votes].sort((a, b) => a.usd - b.usd)) {
    passed += vote.weight;
    if (vote.weight > 0 && passed * 2 >= total) return vote;
  }
  return undefined;
}
