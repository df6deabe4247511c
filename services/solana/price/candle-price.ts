import { distance, LEAST_OTHERS } from "../../shared/pricing/departure.ts";
import { weightedMedian } from "../../shared/pricing/weighted-median.ts";
import { AGREED } from "./contest.ts";
import { type PoolVote, sumOfWeights } from "./pool-vote.ts";
import type { TokenPrice } from "./token-votes.ts";

/** A candle shows what one pool paid no further than this beyond the token's price and what its other pools say. */
const CANDLE_BAND = 0.005;
/** Of value / amount where the value is amount × price. */
const ROUNDING = 1e-12;

interface Market {
  readonly pool: string;
  /** The token's price after the trade, and the votes for it. */
  readonly price: Pick<TokenPrice, "usd" | "refusal"> | undefined;
  readonly votes: readonly PoolVote[];
}

/**
 * A trade's price as the token's candles show it. Anybody who owns most of a pool trades with himself there at any price,
 * for the fees: so a trade counts at its own price where no other pool says anything of the token, and otherwise no further
 * than CANDLE_BAND beyond the range of the token's price and the other pools' median.
 */
export function candlePrice(usd: number, market: Market): number {
  return bounded(usd, { ...market, isRefused: false });
}

/** The same if the price is taken back that the trade was valued by. */
export function candlePriceIfRefused(usd: number, market: Market): number {
  return bounded(usd, { ...market, isRefused: true });
}

function bounded(usd: number, { pool, price, votes, isRefused }: Market & { isRefused: boolean }): number {
  // Most tokens have one pool, and a trade's other token has its price from elsewhere.
  if (votes.length === 1 && votes[0]?.quote.pool === pool) return usd;
  const priceUsd = price && (isRefused ? price.usd * (price.refusal?.factor ?? 1) : price.usd);
  if (priceUsd !== undefined && Math.abs(usd / priceUsd - 1) < ROUNDING) return usd;
  if (!isRefused && agreesWithAll(usd, { pool, votes })) return usd;
  const rest = votes.filter(({ quote }) => quote.pool !== pool);
  const isSole = rest.length < votes.length && !saysEnough(rest, votes);
  const others = isSole ? undefined : weightedMedian(rest);
  if (isSole || (others === undefined && priceUsd === undefined)) return usd;
  const othersUsd = others && (isRefused ? others.usd * (others.refusal?.factor ?? 1) : others.usd);
  const [low, high] = rangeOf(priceUsd ?? (othersUsd as number), othersUsd ?? (priceUsd as number));
  return Math.min(Math.max(usd, low), high);
}

/** Whether all other pools are so near to a price that their median is: the usual case needs no sort. */
function agreesWithAll(usd: number, { pool, votes }: Pick<Market, "pool" | "votes">): boolean {
  let others = 0;
  for (const vote of votes) {
    if (vote.quote.pool === pool) continue;
    others += 1;
    if (vote.usd > usd * (1 + CANDLE_BAND) || usd > vote.usd * (1 + CANDLE_BAND)) return false;
  }
  return others > 0;
}

/** Where price and others agree, the price may be the one that its pool is moving: the others count for more. */
function rangeOf(priceUsd: number, othersUsd: number): readonly [low: number, high: number] {
  const low = Math.min(priceUsd, othersUsd) / (1 + CANDLE_BAND);
  const high = Math.max(priceUsd, othersUsd) * (1 + CANDLE_BAND);
  if (distance(priceUsd, othersUsd) > AGREED) return [low, high];
  return [Math.max(low, othersUsd / (1 + AGREED)), Math.min(high, othersUsd * (1 + AGREED))];
}

/** Whether the others have enough of the weight to be asked. */
function saysEnough(others: readonly PoolVote[], all: readonly PoolVote[]): boolean {
  return others.length > 0 && sumOfWeights(others) >= LEAST_OTHERS * sumOfWeights(all);
}
