import type { Unit } from "../protocol.ts";
import type { OraclePrice } from "../rows.ts";
import { MAX_AMOUNT, toAssets } from "./accrual.ts";
import { less, min, sum } from "./bigints.ts";
import { type EarnState, MAX_CAP, type Strategy } from "./earn-state.ts";
import type { EvkView } from "./evk-view.ts";
import { toOraclePrice } from "./oracle.ts";

/** A strategy as an earn vault has it at one moment. */
export interface Allocation {
  readonly strategy: Strategy;
  /** Raw units of the asset. */
  readonly assets: bigint;
  /** Undefined where the strategy is no EVK vault that is known. */
  readonly vault: EvkView | undefined;
}

/** An EulerEarn vault at one moment. Amounts are raw. */
export interface EarnView {
  readonly address: string;
  readonly state: EarnState;
  readonly allocations: readonly Allocation[];
  /** Losses not made good included, as the contract's totalAssets() has them. */
  readonly supplied: bigint;
  /** What its strategies have lent out of its assets. */
  readonly borrowed: bigint;
  readonly available: bigint;
  /** What it has and still takes (its maxDeposit()); null = uncapped. */
  readonly supplyCap: bigint | null;
  /** Null while a strategy that holds something has rates that are not known. */
  readonly supplyApy: number | null;
  readonly borrowApy: number | null;
  readonly ltv: number | null;
  /** Whether a strategy that deposits go to has room, by its cap and by its own limits. */
  readonly depositEnabled: boolean;
  readonly oracle: OraclePrice | null;
}

/**
 * The vault with what its strategies have earned: EVK vaults by their own accrual, others as they were at the block that
 * was read. Source of totals: EulerEarn, _accruedFeeAndAssets.
 */
export function viewEarn(
  { id, state }: Unit<EarnState>,
  evkView: (address: string) => EvkView | undefined,
): EarnView {
  const allocations = state.strategies.map((strategy): Allocation => {
    const vault = evkView(strategy.vault);
    return { strategy, vault, assets: vault ? toAssets(vault.books, strategy.shares) : strategy.assets };
  });
  const held = sum(allocations, ({ assets }) => assets);
  const isLoss = held < state.lastTotalAssets - state.lostAssets;
  const supplied = isLoss ? state.lastTotalAssets : held + state.lostAssets;
  const queued = allocations.filter(({ strategy }) => state.supplyQueue.includes(strategy.vault));
  const rooms = queued.map(roomOf);
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
    supplyCap: rooms.includes(null) ? null : supplied + sum(rooms, (room) => room ?? 0n),
    // What is lost earns nothing, and borrowers pay for what is held.
    supplyApy: weighted(allocations, "supplyApy", supplied),
    borrowApy: weighted(allocations, "borrowApy", held),
    ltv: ltvs.length === 0 ? null : Math.max(...ltvs),
    depositEnabled: rooms.some((room) => room === null || room > 0n),
    oracle: toOraclePrice(quote),
  };
}

/** What may be put into a strategy, by its cap and by its own limits; null = as much as the EVK can count. */
function roomOf({ strategy, assets, vault }: Allocation): bigint | null {
  const depositable = vault ? vault.depositable : strategy.depositable;
  const isOpen = vault ? vault.supplyCap === null && depositable > 0n : depositable >= MAX_AMOUNT;
  return strategy.cap === MAX_CAP && isOpen ? null : min(less(strategy.cap, assets), depositable);
}

/** Rates weighted by what is in each strategy, over a total. */
function weighted(
  allocations: readonly Allocation[],
  rate: "supplyApy" | "borrowApy",
  total: bigint,
): number | null {
  let weightedSum = 0;
  for (const { assets, vault } of allocations) {
    if (assets === 0n) continue;
    if (vault === undefined) return null;
    weightedSum += vault[rate] * Number(assets);
  }
  return total === 0n ? 0 : weightedSum / Number(total);
}
