import { adaptRate, rateNow } from "./adaptive-curve.ts";
import { compound, wMul } from "./fixed.ts";
import { type Pot, toSharesDown } from "./shares.ts";

/** What Morpho stores of a market, and where its borrow rate comes from. Amounts are raw, rates WAD per second. */
export interface StoredMarket {
  readonly supplyAssets: bigint;
  readonly supplyShares: bigint;
  readonly borrowAssets: bigint;
  readonly borrowShares: bigint;
  /** Unix seconds of the last accrual. */
  readonly lastUpdate: number;
  /** Share (WAD) of the interest that is minted to Morpho's fee recipient, as supply shares. */
  readonly fee: bigint;
  /** Of the AdaptiveCurveIrm; null where another model sets the rate. */
  readonly rateAtTarget: bigint | null;
  /** The rate that another model named, taken as constant, 0 without a model; null where it named none. */
  readonly borrowRate: bigint | null;
}

export interface AccruedMarket {
  readonly supply: Pot;
  readonly borrow: Pot;
  /** The rate from here on, at the utilization after accruing; null where it is not known. */
  readonly borrowRate: bigint | null;
}

/** A market as Morpho's accrueInterest would leave it at `time` (Unix seconds); without a known rate as it is stored. */
export function accrue(market: StoredMarket, time: number): AccruedMarket {
  const { averageRate, rateAtTarget } = rateOver(market, BigInt(time - market.lastUpdate));
  if (averageRate === null) return { ...potsOf(market), borrowRate: null };
  const interest = wMul(market.borrowAssets, compound(averageRate, BigInt(time - market.lastUpdate)));
  const supplyAssets = market.supplyAssets + interest;
  const feeAssets = wMul(interest, market.fee);
  // The fee is bought at the price that the suppliers' part of the interest leaves.
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

function potsOf(market: StoredMarket): { supply: Pot; borrow: Pot } {
  return {
    supply: { assets: market.supplyAssets, shares: market.supplyShares },
    borrow: { assets: market.borrowAssets, shares: market.borrowShares },
  };
}
