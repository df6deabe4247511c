import { sum, weightedRate } from "../allocation.ts";
import type { Entity } from "../protocol.ts";
import { MAX_AMOUNT, toAssets } from "./accrual.ts";
import { min, subtractToZero } from "./bigints.ts";
import { curatorOf, type EarnState, MAX_CAP, type Strategy } from "./earn-state.ts";
import type { EvkView } from "./evk-view.ts";

/** What a strategy is, if it is a vault of Euler: an earn vault may deposit into other earn vaults. */
export type StrategyView =
  | { readonly kind: "evk"; readonly view: EvkView }
  | { readonly kind: "earn"; readonly view: EarnView };

/** An earn vault's allocation to one strategy at one moment. */
export interface Allocation {
  readonly strategy: Pick<Strategy, "vault" | "shares" | "cap" | "assets" | "withdrawable">;
  /** Raw units of the asset. */
  readonly assets: bigint;
  /** Undefined where the strategy is no known vault of Euler, or contains the earn vault itself. */
  readonly vault: StrategyView | undefined;
}

/** What an earn vault has in an EVK vault, itself or through other earn vaults. */
export interface EvkAllocation {
  readonly vault: EvkView;
  readonly assets: bigint;
  /** MAX_CAP = uncapped. Of the vault that allocates to it. */
  readonly cap: bigint;
}

/** An EulerEarn vault at one moment. Amounts are raw. */
export interface EarnView {
  readonly address: string;
  readonly state: Pick<EarnState, "asset" | "name" | "symbol" | "fee">;
  /** Null = nobody. */
  readonly curator: string | null;
  readonly allocations: readonly Allocation[];
  /** One an EVK vault. */
  readonly evkAllocations: readonly EvkAllocation[];
  /** Including uncovered losses, as the contract's totalAssets(). */
  readonly supplied: bigint;
  /** Shares with those that the fee would mint now. */
  readonly shares: bigint;
  /** Added to assets and shares in every conversion. */
  readonly virtualAmount: bigint;
  /** The part of its assets that its strategies have lent out. */
  readonly borrowed: bigint;
  readonly available: bigint;
  /** The contract's maxDeposit(). */
  readonly depositable: bigint;
  /** supplied + maxDeposit(), so that remainingCapacityUsd is the largest deposit; null = uncapped. */
  readonly supplyCap: bigint | null;
  /** Null while a strategy with assets has unknown rates: those that are no vaults of Euler. */
  readonly supplyApy: number | null;
  readonly borrowApy: number | null;
  readonly ltv: number | null;
  /** Whether a strategy that has assets of this vault lends them out. */
  readonly borrowable: boolean;
}

const WAD = 10n ** 18n;
/** Added to assets and shares in every conversion. */
const VIRTUAL_AMOUNT = 1_000_000n;

/**
 * The vault with interest accrued by its strategies: vaults of Euler by their own accrual, others as of the block of the
 * reading. Source of totals: EulerEarn, _accruedFeeAndAssets.
 */
export function viewEarn(
  { id, state }: Entity<EarnState>,
  viewStrategy: (address: string) => StrategyView | undefined,
): EarnView {
  const rooms = state.strategies.map((strategy) => ({
    ...allocate(strategy, viewStrategy(strategy.vault)),
    depositable: strategy.depositable,
  }));
  const allocations: readonly Allocation[] = rooms;
  const allocated = sum(allocations, ({ assets }) => assets);
  const isLoss = allocated < state.lastTotalAssets - state.lostAssets;
  const supplied = isLoss ? state.lastTotalAssets : allocated + state.lostAssets;
  const queued = rooms.filter(({ strategy }) => state.supplyQueue.includes(strategy.vault));
  const depositable = sum(queued, roomOf);
  return {
    address: id,
    state,
    curator: curatorOf(state),
    ...overAllocations(allocations, supplied),
    supplied,
    shares: state.totalSupply + feeShares(state, supplied),
    virtualAmount: VIRTUAL_AMOUNT,
    depositable,
    supplyCap: queued.some(isUncapped) ? null : supplied + depositable,
  };
}

/** What a strategy holds: a vault of Euler by its own accrual, another as of the block of the reading. */
export function allocate<S extends Allocation["strategy"]>(strategy: S, vault: StrategyView | undefined) {
  return { strategy, vault, assets: vault ? assetsOf(vault, strategy.shares) : strategy.assets };
}

/** What follows from the allocations alone; rates are over what suppliers have, and over what is allocated. */
export function overAllocations(allocations: readonly Allocation[], supplied: bigint) {
  const ltvs = allocations.flatMap(({ vault }) => vault?.view.ltv ?? []);
  return {
    allocations,
    evkAllocations: evkAllocationsOf(allocations),
    borrowed: sum(allocations, ({ assets, vault }) =>
      vault === undefined ? 0n : partOf(assets, vault.view.borrowed, vault.view.supplied),
    ),
    /** What can be withdrawn from the strategies. */
    available: sum(allocations, ({ assets, vault, strategy }) =>
      min(assets, vault ? vault.view.available : strategy.withdrawable),
    ),
    // Lost assets earn nothing; borrowers pay for allocated assets.
    supplyApy: weightedRate(rates(allocations, supplyRateOf), supplied),
    borrowApy: weightedRate(
      rates(allocations, ({ view }) => view.borrowApy),
      sum(allocations, ({ assets }) => assets),
    ),
    ltv: ltvs.length === 0 ? null : Math.max(...ltvs),
    borrowable: allocations.some(({ assets, vault }) => assets > 0n && vault?.view.borrowable === true),
  };
}

/** The assets of an account's shares, rounded down (previewRedeem). */
function assetsOf(vault: StrategyView, shares: bigint): bigint {
  if (vault.kind === "evk") return toAssets(vault.view.books, shares);
  const { supplied, shares: all, virtualAmount } = vault.view;
  return (shares * (supplied + virtualAmount)) / (all + virtualAmount);
}

function feeShares({ fee, totalSupply, lastTotalAssets }: EarnState, supplied: bigint): bigint {
  const feeAssets = ((supplied - lastTotalAssets) * fee) / WAD;
  return (feeAssets * (totalSupply + VIRTUAL_AMOUNT)) / (supplied - feeAssets + VIRTUAL_AMOUNT);
}

/** An allocation with what its strategy took when it was read. */
type Room = Allocation & { readonly depositable: bigint };

/** The most that a strategy can take, by its cap and its own limits. */
function roomOf({ strategy, assets, vault, depositable }: Room): bigint {
  return min(subtractToZero(strategy.cap, assets), vault ? vault.view.depositable : depositable);
}

/** Whether no limit below the EVK's maximum binds. */
function isUncapped({ strategy, vault, depositable }: Room): boolean {
  if (strategy.cap !== MAX_CAP) return false;
  if (vault === undefined) return depositable >= MAX_AMOUNT;
  return vault.view.supplyCap === null && vault.view.depositable > 0n;
}

/** What a strategy pays to its depositors: an earn vault's rate is before its fee. */
function supplyRateOf(vault: StrategyView): number | null {
  const { supplyApy } = vault.view;
  if (vault.kind === "evk" || supplyApy === null) return supplyApy;
  return supplyApy * (1 - Number(vault.view.state.fee) / 1e18);
}

function rates(allocations: readonly Allocation[], rateOf: (vault: StrategyView) => number | null) {
  return allocations.map(({ assets, vault }) => ({
    assets,
    rate: vault === undefined ? null : rateOf(vault),
  }));
}

/** Direct allocations first: of an EVK vault that is reached both ways, the earn vault's own cap holds. */
function evkAllocationsOf(allocations: readonly Allocation[]): EvkAllocation[] {
  const direct = allocations.flatMap(({ vault, assets, strategy }): EvkAllocation[] =>
    vault?.kind === "evk" ? [{ vault: vault.view, assets, cap: strategy.cap }] : [],
  );
  const nested = allocations.flatMap(({ vault, assets }): EvkAllocation[] => {
    if (vault?.kind !== "earn") return [];
    const { supplied, evkAllocations } = vault.view;
    return evkAllocations.map((each) => ({ ...each, assets: partOf(assets, each.assets, supplied) }));
  });
  const byVault = new Map<string, EvkAllocation>();
  for (const each of [...direct, ...nested]) {
    const before = byVault.get(each.vault.address);
    byVault.set(each.vault.address, before ? { ...before, assets: before.assets + each.assets } : each);
  }
  return [...byVault.values()];
}

function partOf(assets: bigint, part: bigint, whole: bigint): bigint {
  return whole === 0n ? 0n : (assets * part) / whole;
}
