import { toWholeTokens } from "../metrics/pool-price.ts";
import { pairUsd } from "../metrics/v2-usd.ts";
import type { TokenPrice } from "../price/link.ts";
import { pairValues } from "../price/pair-values.ts";
import { holdingsOf, readV2State } from "../protocols/aerodrome-v2/state.ts";
import { protocolOf } from "../protocols/index.ts";
import type { Protocol } from "../protocols/protocol.ts";
import type { PoolRow } from "../store/collections.ts";
import type { PoolState } from "../store/queries.ts";
import { valueV2Pool } from "./v2-facts.ts";

type PriceOf = (token: string) => TokenPrice | undefined;

/** A pool's TVL by its state and the prices of one block, as its endpoint tells it; null while a token has no price. */
export function poolTvlUsd(
  pool: PoolRow,
  { state, price }: { state: PoolState; price: PriceOf },
): number | null {
  if (protocolOf(pool.protocol).generation === "v3") return v3TvlUsd(pool, { state, price });
  const holdings = holdingsOf(readV2State(state.state));
  const tokens = { price, decimals: () => undefined };
  return valueV2Pool(pool, { holdings, tokens, rewardToken: undefined, now: 0 }).tvlUsd;
}

/** balanceOf(pool) of both tokens × their prices, within the bounds of pairValues; null while one has no price. */
export function v3TvlUsd(
  pool: PoolRow,
  { state, price }: { state: PoolState; price: PriceOf },
): number | null {
  const [token0, token1] = [price(pool.token0Address), price(pool.token1Address)];
  if (token0 === undefined || token1 === undefined) return null;
  const protocol = protocolOf(pool.protocol);
  const parsed = protocol.read(state.state);
  const reserves = protocol.reserves(parsed);
  const isRead = state.balanceBlock >= 0;
  const amount0 = toWholeTokens(isRead ? state.balance0 : reserves.amount0, pool.token0Decimals);
  const amount1 = toWholeTokens(isRead ? state.balance1 : reserves.amount1, pool.token1Decimals);
  const ownPrice = activePrice(protocol, { state: parsed, pool });
  const { usd0, usd1 } = pairValues(pool.poolAddress, { amount0, amount1, token0, token1, price: ownPrice });
  return pairUsd({ amount0, amount1, price0Usd: usd0, price1Usd: usd1 });
}

/** The pool's price; undefined where no liquidity stands behind it. */
function activePrice(
  protocol: Protocol,
  { state, pool }: { state: unknown; pool: PoolRow },
): number | undefined {
  const { amount0, amount1 } = protocol.depth(state, pool);
  return amount0 > 0 && amount1 > 0 ? protocol.price(state, pool) : undefined;
}
