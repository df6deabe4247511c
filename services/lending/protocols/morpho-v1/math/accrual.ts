import { adaptRate, rateNow } from "./adaptive-curve.ts";
import { compound, wMul } from "./fixed.ts";
import { type ShareTotals, toSharesDown } from "./shares.ts";

/** A market in Morpho's storage, and the source of its borrow rate. Amounts are raw, rates WAD per second. */
export interface StoredMarket {
  readonly supplyAssets: bigint;
  readonly supplyShares: bigint;
  readonly borrowAssets: bigint;
  readonly borrowShares: bigint;
  /** Unix seconds of the last accrual. */
  readonly lastUpdate: number;
  /** Share (WAD) of the interest that is minted to Morpho's fee recipient, as supply shares. */
  readonly fee: bigint;
  /** State of the AdaptiveCurveIrm; null where another model sets the rate. */
  readonly rateAtTarget: bigint | null;
  /** The rate that another model returned, taken as constant; 0 without a model, null where it returned none. */
  readonly borrowRate: bigint | null;
}

export interface AccruedMarket {
  readonly supply: ShareTotals;
  readonly borrow: ShareTotals;
  /** The rate from here on, at the utilization after accrual; null if unknown. */
  readonly borrowRate: bigint | null;
}

/** A market after Morpho's accrueInterest at `time` (Unix seconds); as stored where the rate is unknown. */
export function accrue(market: StoredMarket, time: number): AccruedMarket {
  const { averageRate, rateAtTarget } = rateOver(market, BigInt(time - market.lastUpdate));
  if (averageRate === null) return { ...totalsOf(market), borrowRate: null };
  const interest = wMul(market.borrowAssets, compound(averageRate, BigInt(time - market.lastUpdate)));
  const supplyAssets = market.supplyAssets + interest;
  const feeAssets = wMul(interest, market.fee);
  // Fee shares are minted at the price after the suppliers' part of the interest.
  const feeShares = toSharesDown(feeAssets, {
    assets: supplyAssets - feeAssets,
    shares: market.supplyShares,
  });
  const borrowAssets = market.borrowAssets + interest;
  return {
    supply: { assets: supplyAssets, shares: market.supplyShares + feeShares },
    borrow: { assets: borrowAssets, shares: market.borrowShares },
    borrowRate: rateAtTarget === null ? averageRate : rateNow(rateAtTarget, { supplyAssets, borrowAssets }),
  };
}

function rateOver(
  market: StoredMarket,
  seconds: bigint,
): { averageRate: bigint | null; rateAtTarget: bigint | null } {
  if (market.rateAtTarget === null) return { averageRate: market.borrowRate, rateAtTarget: null };
  return adaptRate(market.rateAtTarget, market, seconds);
}

function totalsOf(market: StoredMarket): { supply: ShareTotals; borrow: ShareTotals } {
  return {
    supply: { assets: market.supplyAssets, shares: market.supplyShares },
    borrow: { assets: market.borrowAssets, shares: market.borrowShares },
  };
}
