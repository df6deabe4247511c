import type { PoolQuote } from "./pool-quote.ts";

/** What a price, and all that rests on it, is worth if the contest is lost. */
export interface Refusal {
  /** The contest's token and its beginning. */
  readonly mint: string;
  readonly since: number;
  /** Price if refused / price. */
  readonly factor: number;
}

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
  /** What becomes of it if the price is taken back that it rests on. */
  readonly refusal: Refusal | undefined;
}

export function sumOfWeights(votes: readonly PoolVote[]): number {
  let sum = 0;
  for (const { weight } of votes) sum += weight;
  return sum;
}
