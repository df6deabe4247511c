import { type ValuePrices, valuePrices } from "../../shared/pricing/value-prices.ts";
import { supportOutside, type TokenPrice } from "./link.ts";

interface PricedPair {
  /** Whole tokens, not negative. */
  readonly amount0: number;
  readonly amount1: number;
  /** Undefined: unknown. */
  readonly token0: TokenPrice | undefined;
  readonly token1: TokenPrice | undefined;
  /** The pool's own price, token1 per token0; undefined where it says nothing. */
  readonly price: number | undefined;
}

/** What a pool's holdings, or a swap in it, are valued with. */
export function pairValues(pool: string, pair: PricedPair): ValuePrices {
  const sideOf = (amount: number, price: TokenPrice | undefined) => ({
    amount,
    usd: price?.usd ?? null,
    supportUsd: price === undefined ? 0 : supportOutside(pool, price.link),
  });
  return valuePrices(sideOf(pair.amount0, pair.token0), sideOf(pair.amount1, pair.token1), pair.price);
}
