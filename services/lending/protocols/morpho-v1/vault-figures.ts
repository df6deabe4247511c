import { sum, weightedRate } from "../allocation.ts";
import type { MarketFigures } from "./market-figures.ts";
import { mulDivDown } from "./math/fixed.ts";
import { toAssetsDown, toAssetsUp } from "./math/shares.ts";
import type { VaultMarket, VaultState } from "./state.ts";

/** Morpho counts assets in 128 bits: a cap from here on, such as 2^184 − 1 for "uncapped", never binds. */
const UNCAPPED = 2n ** 128n - 1n;

/** A vault's allocation to one market. Amounts are raw units of the asset. */
export interface Allocation {
  readonly id: string;
  readonly market: MarketFigures;
  /** The assets of the vault's shares. */
  readonly assets: bigint;
  /** The most that the vault can still supply to the market. */
  readonly capacity: bigint;
  /** Null = uncapped. */
  readonly cap: bigint | null;
}

/** A vault at one moment. Amounts are raw units of the asset. */
export interface VaultFigures {
  readonly allocations: readonly Allocation[];
  /** The contract's own totalAssets(). */
  readonly totalAssets: bigint;
  /** The part of the assets that is lent out. */
  readonly borrowed: bigint;
  /** The part that could be withdrawn from the markets now. */
  readonly liquidity: bigint;
  /** totalAssets + maxDeposit(), so that remainingCapacityUsd is the largest deposit; null = uncapped. */
  readonly supplyCap: bigint | null;
  /** Whether the contract's maxDeposit() is above 0. */
  readonly isDepositEnabled: boolean;
  /** Whether a market with collateral that has assets of the vault can lend. */
  readonly isBorrowable: boolean;
  readonly utilization: number;
  /** Null where a market with assets of the vault has no known rate. */
  readonly supplyApy: number | null;
  readonly borrowApy: number | null;
  /** Highest LLTV (WAD) of the enabled markets with collateral; null without any. */
  readonly lltv: bigint | null;
}

/** A vault's figures from those of its markets (by id) at the same moment; undefined while one of them is unknown. */
export function vaultFigures(
  state: VaultState,
  markets: ReadonlyMap<string, MarketFigures>,
): VaultFigures | undefined {
  const allocations: Allocation[] = [];
  for (const each of state.markets) {
    const market = markets.get(each.id);
    if (market === undefined) return undefined;
    allocations.push(allocationOf(each, market));
  }
  const allocated = sum(allocations, ({ assets }) => assets);
  const totalAssets = allocated + lostAssets(state, allocated);
  const borrowed = sum(allocations, ({ assets, market: { supply, borrow } }) =>
    supply.assets === 0n ? 0n : mulDivDown(assets, borrow.assets, supply.assets),
  );
  const queue = new Set(state.supplyQueue);
  const queued = allocations.filter(({ id }) => queue.has(id));
  const lending = allocations.filter(({ market }) => market.params.lltv > 0n);
  return {
    allocations,
    totalAssets,
    borrowed,
    liquidity: sum(allocations, ({ assets, market: { liquidity } }) =>
      assets < liquidity ? assets : liquidity,
    ),
    supplyCap: queued.some(({ cap }) => cap === null)
      ? null
      : totalAssets + sum(queued, ({ capacity }) => capacity),
    isDepositEnabled: queued.some(({ capacity }) => capacity > 0n),
    isBorrowable: lending.some(({ assets, market }) => assets > 0n && isLendable(market)),
    utilization: totalAssets === 0n ? 0 : Number(borrowed) / Number(totalAssets),
    supplyApy: weightedRate(rates(allocations, "supplyApy"), totalAssets),
    borrowApy: weightedRate(rates(allocations, "borrowApy"), allocated),
    lltv: lending.reduce<bigint | null>(
      (highest, { market: { params } }) =>
        highest === null || params.lltv > highest ? params.lltv : highest,
      null,
    ),
  };
}

/** Where the rate model reverts, so does every loan. */
function isLendable({ liquidity, borrowApy }: MarketFigures): boolean {
  return liquidity > 0n && borrowApy !== null;
}

function allocationOf({ id, shares, cap }: VaultMarket, market: MarketFigures): Allocation {
  // Assets are rounded up here, as in the contract.
  const capacity = cap - toAssetsUp(shares, market.supply);
  return {
    id,
    market,
    assets: toAssetsDown(shares, market.supply),
    capacity: capacity > 0n ? capacity : 0n,
    cap: cap >= UNCAPPED ? null : cap,
  };
}

/** Lost assets that v1.1 still counts as the vault's: losses since the last accrual add to earlier ones. */
function lostAssets({ lastTotalAssets, lostAssets: before }: VaultState, allocated: bigint): bigint {
  if (before === null) return 0n;
  return allocated < lastTotalAssets - before ? lastTotalAssets - allocated : before;
}

function rates(allocations: readonly Allocation[], rate: "supplyApy" | "borrowApy") {
  return allocations.map(({ assets, market }) => ({ assets, rate: market[rate] }));
}
