import { formatDateTime } from "../../shared/contract/cells.ts";
import type {
  lendingaPools,
  lendingbCuratorVaults,
  lendingbMarkets,
  lendingbVaultMarkets,
  lendingbVaults,
  lendingcCurators,
  lendingcMarkets,
  lendingcVaultMarkets,
} from "../contract.ts";
import type { CuratorRegistry } from "../curators.ts";
import type { ProtocolId } from "../protocols/protocol-id.ts";
import type { MarketRow, VaultMarketRow, VaultRow } from "../protocols/rows.ts";
import type { CellOf, CellsFor } from "./sheet.ts";

/** What all rows of a table share. */
export interface CellContext {
  readonly chainId: number;
  /** Unix seconds of the block they stand on. */
  readonly time: number;
  readonly curators: CuratorRegistry;
}

/** A curator with all its vaults of one protocol. */
export interface CuratorRow {
  readonly protocolId: ProtocolId;
  readonly address: string;
  /** NaN if any vault has no price. */
  readonly totalTvlUsd: number;
  readonly vaultCount: number;
}

/** A market of one vault, and the market's own TVL, which orders the rows unseen. */
export interface VaultMarketOf {
  readonly row: VaultMarketRow;
  /** Tokens supplied to the market in all. */
  readonly supply: number;
}

/** A number that no arithmetic has lost, else null: an unknown price is NaN, and so is all that comes of it. */
function known(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

function orNull(value: number | null): number | null {
  return value === null ? null : known(value);
}

function timesUsd(amount: number | null, usd: number): number | null {
  return amount === null ? null : known(amount * usd);
}

function shared({ chainId, time }: CellContext): {
  chainId: CellOf<unknown, number>;
  updatedAt: CellOf<unknown, string>;
} {
  const updatedAt = formatDateTime(time);
  return { chainId: () => chainId, updatedAt: () => updatedAt };
}

type VaultCells = CellsFor<typeof lendingaPools, VaultRow> &
  CellsFor<typeof lendingbVaults, VaultRow> &
  CellsFor<typeof lendingbCuratorVaults, VaultRow>;

export function vaultCells(context: CellContext): VaultCells {
  const { chainId, curators } = context;
  const curatorOf = (row: VaultRow) => row.curator ?? "";
  return {
    ...shared(context),
    protocolId: (row) => row.protocolId,
    curatorAddress: curatorOf,
    curatorName: (row) => curators.nameOf(chainId, curatorOf(row)),
    poolAddress: (row) => row.address,
    vaultAddress: (row) => row.address,
    symbol: (row) => row.symbol,
    vaultName: (row) => row.vaultName,
    underlyingAddress: (row) => row.underlying.address,
    underlyingSymbol: (row) => row.underlying.symbol,
    supply: (row) => row.supply,
    supplyUsd: (row, usd) => known(row.supply * usd),
    borrow: (row) => row.borrow,
    borrowUsd: (row, usd) => known(row.borrow * usd),
    tvlUsd: (row, usd) => known(row.supply * usd),
    availableLiquidityUsd: (row, usd) => known(row.available * usd),
    supplyCap: (row) => orNull(row.supplyCap),
    supplyCapUsd: (row, usd) => timesUsd(row.supplyCap, usd),
    borrowCap: (row) => orNull(row.borrowCap),
    borrowCapUsd: (row, usd) => timesUsd(row.borrowCap, usd),
    remainingCapacityUsd: ({ supplyCap, supply }, usd) =>
      supplyCap === null ? null : known(Math.max(supplyCap - supply, 0) * usd),
    supplyApy: (row) => orNull(row.supplyApy),
    borrowApy: (row) => orNull(row.borrowApy),
    netSupplyApy: ({ supplyApy, performanceFee, managementFee }) =>
      supplyApy === null ? null : known(supplyApy * (1 - performanceFee) - managementFee),
    performanceFee: (row) => row.performanceFee,
    managementFee: (row) => row.managementFee,
    utilizationRate: (row) => row.utilizationRate,
    ltv: (row) => orNull(row.ltv),
    borrowable: (row) => row.borrowable,
    depositEnabled: (row) => row.depositEnabled,
  };
}

export function curatorCells(context: CellContext): CellsFor<typeof lendingcCurators, CuratorRow> {
  const { chainId, curators } = context;
  return {
    ...shared(context),
    protocolId: (row) => row.protocolId,
    curatorAddress: (row) => row.address,
    curatorName: (row) => curators.nameOf(chainId, row.address),
    totalTvlUsd: (row) => known(row.totalTvlUsd),
    vaultCount: (row) => row.vaultCount,
    verified: (row) => curators.isVerified(chainId, row.address),
  };
}

type MarketCells = CellsFor<typeof lendingbMarkets, MarketRow> & CellsFor<typeof lendingcMarkets, MarketRow>;

export function marketCells(context: CellContext): MarketCells {
  return {
    ...shared(context),
    protocolId: (row) => row.protocolId,
    marketId: (row) => row.marketId,
    loanAddress: (row) => row.loan.address,
    loanSymbol: (row) => row.loan.symbol,
    collateralAddress: (row) => row.collateral.address,
    collateralSymbol: (row) => row.collateral.symbol,
    supplyUsd: (row, usd) => known(row.supply * usd),
    borrowUsd: (row, usd) => known(row.borrow * usd),
    tvlUsd: (row, usd) => known(row.supply * usd),
    availableLiquidityUsd: (row, usd) => known(row.available * usd),
    supplyApy: (row) => orNull(row.supplyApy),
    borrowApy: (row) => orNull(row.borrowApy),
    utilizationRate: (row) => row.utilizationRate,
    ltv: (row) => row.ltv,
    lltv: (row) => row.ltv,
  };
}

type VaultMarketCells = CellsFor<typeof lendingbVaultMarkets, VaultMarketOf> &
  CellsFor<typeof lendingcVaultMarkets, VaultMarketOf> & {
    readonly tvlUsd: CellOf<VaultMarketOf, number | null>;
  };

export function vaultMarketCells(context: CellContext): VaultMarketCells {
  return {
    ...shared(context),
    protocolId: ({ row }) => row.protocolId,
    marketId: ({ row }) => row.marketId,
    loanAddress: ({ row }) => row.loan.address,
    loanSymbol: ({ row }) => row.loan.symbol,
    collateralAddress: ({ row }) => row.collateral.address,
    collateralSymbol: ({ row }) => row.collateral.symbol,
    tvlUsd: ({ supply }, usd) => known(supply * usd),
    supplyApy: ({ row }) => orNull(row.supplyApy),
    borrowApy: ({ row }) => orNull(row.borrowApy),
    utilizationRate: ({ row }) => row.utilizationRate,
    ltv: ({ row }) => row.ltv,
    lltv: ({ row }) => row.ltv,
    allocationUsd: ({ row }, usd) => known(row.allocation * usd),
    allocationShare: ({ row }) => row.allocationShare,
    supplyCapUsd: ({ row }, usd) => timesUsd(row.supplyCap, usd),
  };
}
