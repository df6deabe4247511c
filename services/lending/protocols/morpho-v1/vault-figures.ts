import type { MarketFigures } from "./market-figures.ts";
import { mulDivDown } from "./math/fixed.ts";
import { toAssetsDown, toAssetsUp } from "./math/shares.ts";
import type { VaultMarket, VaultState } from "./state.ts";

/** Morpho counts assets in 128 bits: a cap of so much or more, like the 2^184 − 1 that stands for none, never binds. */
const UNCAPPED = 2n ** 128n - 1n;

/** A market as its vault sees it. Amounts are raw units of the asset. */
export interface Allocation {
  readonly id: string;
  readonly market: MarketFigures;
  /** What the vault's shares in it are worth. */
  readonly assets: bigint;
  /** What the vault may still put into it. */
  readonly room: bigint;
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
  /** The part that could be taken out of the markets now. */
  readonly liquidity: bigint;
  /** What it has and what it still takes (its maxDeposit()); null = uncapped. */
  readonly supplyCap: bigint | null;
  /** Whether the contract's maxDeposit() is above 0. */
  readonly takesDeposits: boolean;
  /** Whether it has, or may put, assets into a market that lends against a collateral. */
  readonly lends: boolean;
  readonly utilization: number;
  /** Null where a market with assets of the vault has no known rate. */
  readonly supplyApy: number | null;
  readonly borrowApy: number | null;
  /** Highest LLTV (WAD) of the enabled markets that lend against a collateral; null without any. */
  readonly lltv: bigint | null;
}

/** A vault's figures from those of its markets at the same moment, by market id; undefined while one of them is not known. */
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
  const held = sum(allocations, ({ assets }) => assets);
  const totalAssets = held + lostAssets(state, held);
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
    supplyCap: queued.some(({ cap }) => cap === null) ? null : totalAssets + sum(queued, ({ room }) => room),
    takesDeposits: queued.some(({ room }) => room > 0n),
    lends: lending.some(({ assets, cap }) => assets > 0n || cap !== 0n),
    utilization: totalAssets === 0n ? 0 : Number(borrowed) / Number(totalAssets),
    supplyApy: weighted(allocations, "supplyApy", totalAssets),
    borrowApy: weighted(allocations, "borrowApy", held),
    lltv: lending.reduce<bigint | null>(
      (highest, { market: { params } }) =>
        highest === null || params.lltv > highest ? params.lltv : highest,
      null,
    ),
  };
}

function allocationOf({ id, shares, cap }: VaultMarket, market: MarketFigures): Allocation {
  // Rounded up for the room, as the contract does.
  const room = cap - toAssetsUp(shares, market.supply);
  return {
    id,
    market,
    assets: toAssetsDown(shares, market.supply),
    room: room > 0n ? room : 0n,
    cap: cap >= UNCAPPED ? null : cap,
  };
}

/** What v1.1 counts as the vault's though it is lost: losses since the last accrual come on top of earlier ones. */
function lostAssets({ lastTotalAssets, lostAssets: before }: VaultState, held: bigint): bigint {
  if (before === null) return 0n;
  return held < lastTotalAssets - before ? lastTotalAssets - held : before;
}

/** Sum of a rate × assets in the market, over `total`; 0 for an empty vault, null where a rate is not known. */
function weighted(
  allocations: readonly Allocation[],
  rate: "supplyApy" | "borrowApy",
  total: bigint,
): number | null {
  let weightedSum = 0;
  for (const { assets, market } of allocations) {
    if (assets === 0n) continue;
    const apy = market[rate];
    if (apy === null) return null;
    weightedSum += apy * Number(assets);
  }
  return total === 0n ? 0 : weightedSum / Number(total);
}

function sum<T>(items: readonly T[], of: (item: T) => bigint): bigint {
  return items.reduce((total, item) => total + of(item), 0n);
}
