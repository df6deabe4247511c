import { sum, weightedRate } from "../allocation.ts";
import type { Entity } from "../protocol.ts";
import type { OraclePrice } from "../rows.ts";
import { MAX_AMOUNT, toAssets } from "./accrual.ts";
import { min, subtractToZero } from "./bigints.ts";
import { type EarnState, MAX_CAP, type Strategy } from "./earn-state.ts";
import type { EvkView } from "./evk-view.ts";
import { toOraclePrice } from "./oracle.ts";

/** An earn vault's allocation to one strategy at one moment. */
export interface Allocation {
  readonly strategy: Strategy;
  /** Raw units of the asset. */
  readonly assets: bigint;
  /** Undefined where the strategy is not a known EVK vault. */
  readonly vault: EvkView | undefined;
}

/** An EulerEarn vault at one moment. Amounts are raw. */
export interface EarnView {
  readonly address: string;
  readonly state: EarnState;
  readonly allocations: readonly Allocation[];
  /** Including uncovered losses, as the contract's totalAssets(). */
  readonly supplied: bigint;
  /** The part of its assets that its strategies have lent out. */
  readonly borrowed: bigint;
  readonly available: bigint;
  /** supplied + maxDeposit(), so that remainingCapacityUsd is the largest deposit; null = uncapped. */
  readonly supplyCap: bigint | null;
  /** Null while a strategy with assets has unknown rates: those that are not EVK vaults. */
  readonly supplyApy: number | null;
  readonly borrowApy: number | null;
  readonly ltv: number | null;
  /** Whether a strategy of the supply queue can take a deposit, by its cap and its own limits. */
  readonly depositEnabled: boolean;
  readonly oracle: OraclePrice | null;
}

/**
 * The vault with interest accrued by its strategies: EVK vaults by their own accrual, others as of the block of the
 * reading. Source of totals: EulerEarn, _accruedFeeAndAssets.
 */
export function viewEarn(
  { id, state }: Entity<EarnState>,
  evkView: (address: string) => EvkView | undefined,
): EarnView {
  const allocations = state.strategies.map((strategy): Allocation => {
    const vault = evkView(strategy.vault);
    return { strategy, vault, assets: vault ? toAssets(vault.books, strategy.shares) : strategy.assets };
  });
  const allocated = sum(allocations, ({ assets }) => assets);
  const isLoss = allocated < state.lastTotalAssets - state.lostAssets;
  const supplied = isLoss ? state.lastTotalAssets : allocated + state.lostAssets;
  const queued = allocations.filter(({ strategy }) => state.supplyQueue.includes(strategy.vault));
  const capacities = queued.map(capacityOf);
  const ltvs = allocations.flatMap(({ vault }) => vault?.ltv ?? []);
  const quote = allocations.map(({ vault }) => vault?.state.quote).find((each) => each != null) ?? null;
  return {
    address: id,
    state,
    allocations,
    supplied,
    borrowed: sum(allocations, ({ assets, vault }) =>
      vault === undefined || vault.supplied === 0n ? 0n : (assets * vault.borrowed) / vault.supplied,
    ),
    available: sum(allocations, ({ assets, vault, strategy }) =>
      min(assets, vault ? vault.books.cash : strategy.withdrawable),
    ),
    supplyCap: capacities.includes(null) ? null : supplied + sum(capacities, (capacity) => capacity ?? 0n),
    // Lost assets earn nothing; borrowers pay for allocated assets.
    supplyApy: weightedRate(rates(allocations, "supplyApy"), supplied),
    borrowApy: weightedRate(rates(allocations, "borrowApy"), allocated),
    ltv: ltvs.length === 0 ? null : Math.max(...ltvs),
    depositEnabled: capacities.some((capacity) => capacity === null || capacity > 0n),
    oracle: toOraclePrice(quote),
  };
}

/** The most that a strategy can take, by its cap and its own limits; null = no limit below the EVK's maximum. */
function capacityOf({ strategy, assets, vault }: Allocation): bigint | null {
  const depositable = vault ? vault.depositable : strategy.depositable;
  const isOpen = vault ? vault.supplyCap === null && depositable > 0n : depositable >= MAX_AMOUNT;
  return strategy.cap === MAX_CAP && isOpen ? null : min(subtractToZero(strategy.cap, assets), depositable);
}

function rates(allocations: readonly Allocation[], rate: "supplyApy" | "borrowApy") {
  return allocations.map(({ assets, vault }) => ({ assets, rate: vault?.[rate] ?? null }));
}
