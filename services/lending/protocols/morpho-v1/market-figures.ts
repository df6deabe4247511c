import { fromFixed } from "../rows.ts";
import { type AccruedMarket, accrue } from "./math/accrual.ts";
import type { MarketParams, MarketState } from "./state.ts";

/** Morpho's year, of which rates are stated. */
const YEAR_S = 31_536_000;

/**
 * A market at one moment, with interest accrued to it. Rates are those from this moment on: the average that
 * AdaptiveCurveIrm charges for the past does not predict future yield.
 */
export interface MarketFigures extends AccruedMarket {
  readonly params: MarketParams;
  /** Raw units of the loan token that are not lent out. */
  readonly liquidity: bigint;
  /** Borrowed / supplied; 0 when empty. */
  readonly utilization: number;
  /** Fractions per year, compounded continuously; null where the model returns no rate. */
  readonly borrowApy: number | null;
  readonly supplyApy: number | null;
}

/** A market's figures at `time` (Unix seconds). */
export function marketFigures(state: MarketState, time: number): MarketFigures {
  const accrued = accrue(state, time);
  const { supply, borrow, borrowRate } = accrued;
  const utilization = supply.assets === 0n ? 0 : Number(borrow.assets) / Number(supply.assets);
  const perYear = borrowRate === null ? null : fromFixed(borrowRate, 18) * YEAR_S;
  return {
    ...accrued,
    params: state.params,
    liquidity: supply.assets - borrow.assets,
    utilization,
    borrowApy: perYear === null ? null : Math.expm1(perYear),
    supplyApy: perYear === null ? null : Math.expm1(perYear * utilization * (1 - fromFixed(state.fee, 18))),
  };
}
