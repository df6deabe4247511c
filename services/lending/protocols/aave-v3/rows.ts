import { type OraclePrice, toUnits, type VaultRow } from "../rows.ts";
import { type AccruedReserve, accrueReserve } from "./accrue.ts";
import { ZERO_ADDRESS } from "./contracts.ts";
import { annualYield } from "./interest.ts";
import type { OracleState, ReserveState } from "./state.ts";

/**
 * A reserve's row, with interest accrued to `time` (Unix seconds). Rates are those in storage: they stay constant until
 * the reserve's next action, and so does supplyApy.
 */
export function reserveRow(state: ReserveState, { pool, time }: { pool: string; time: number }): VaultRow {
  const accrued = accrueReserve(state, time);
  const { configuration, supply, debt } = accrued;
  const { decimals, isActive, isFrozen, isPaused, liquidationThreshold } = configuration;
  const isOpen = isActive && !isFrozen && !isPaused;
  return {
    table: "vault",
    protocolId: "aave-v3",
    address: pool,
    // Its market is one that the deployments name.
    listed: true,
    curator: null,
    isOfCurator: false,
    symbol: state.aToken.symbol,
    vaultName: state.aToken.name,
    underlying: state.underlying,
    supply: toUnits(supply, decimals),
    borrow: toUnits(debt, decimals),
    available: toUnits(availableOf(state, accrued), decimals),
    supplyCap: capOf(configuration.supplyCap),
    borrowCap: capOf(configuration.borrowCap),
    supplyApy: annualYield(state.liquidityRate),
    borrowApy: annualYield(state.variableBorrowRate),
    utilizationRate: debt === 0n ? 0 : Number(debt) / Number(debt + state.liquidity),
    // supplyApy is net of the reserve factor.
    performanceFee: 0,
    managementFee: 0,
    ltv: liquidationThreshold === 0 ? null : configuration.ltv / 10_000,
    borrowable: isOpen && configuration.isBorrowingEnabled,
    depositEnabled: isOpen && !isFull(accrued),
    oracle: state.oracle && priceOf(state.oracle),
  };
}

/** What can be borrowed now: min(liquidity, borrowCap − debt). */
function availableOf({ liquidity }: ReserveState, { configuration, debt }: AccruedReserve): bigint {
  if (configuration.borrowCap === 0n) return liquidity;
  const left = inTokens(configuration.borrowCap, configuration.decimals) - debt;
  if (left < 0n) return 0n;
  return left < liquidity ? left : liquidity;
}

function isFull({ configuration, cappedSupply }: AccruedReserve): boolean {
  const { supplyCap, decimals } = configuration;
  return supplyCap !== 0n && cappedSupply >= inTokens(supplyCap, decimals);
}

function inTokens(whole: bigint, decimals: number): bigint {
  return whole * 10n ** BigInt(decimals);
}

function capOf(whole: bigint): number | null {
  return whole === 0n ? null : Number(whole);
}

/** Null where the oracle has no price, or its base currency is not USD. */
function priceOf({ baseCurrency, baseUnit, price }: OracleState): OraclePrice | null {
  if (baseCurrency !== ZERO_ADDRESS || price === 0n || baseUnit === 0n) return null;
  return { value: Number(price) / Number(baseUnit), unit: "USD" };
}
