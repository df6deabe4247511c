import { toUnits, type VaultRow } from "../rows.ts";
import { type AccruedReserve, accrueReserve } from "./accrue.ts";
import type { ReserveConfiguration } from "./configuration.ts";
import { annualYield } from "./interest.ts";
import { poolMath } from "./math.ts";
import type { EMode, ReserveState } from "./state.ts";

/**
 * A reserve's row, with interest accrued to `time` (Unix seconds). Rates are those in storage: they stay constant until
 * the reserve's next action, and so does supplyApy.
 */
export function reserveRow(
  state: ReserveState,
  {
    pool,
    eModes,
    sentinelLends,
    time,
  }: { pool: string; eModes: readonly EMode[]; sentinelLends: boolean; time: number },
): VaultRow {
  const accrued = accrueReserve(state, time);
  const { configuration, supply, debt } = accrued;
  const { decimals, isActive, isFrozen, isPaused } = configuration;
  const isOpen = isActive && !isFrozen && !isPaused;
  // States of an index that an earlier version made have neither modes nor the reserve's id.
  const own = (eModes ?? []).map((eMode) => modeOf(eMode, state.id ?? 0));
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
    available: isActive && !isPaused ? toUnits(state.liquidity, decimals) : 0,
    supplyCap: capOf(configuration.supplyCap),
    borrowCap: capOf(configuration.borrowCap),
    supplyApy: annualYield(state.liquidityRate),
    borrowApy: annualYield(state.variableBorrowRate),
    utilizationRate: debt === 0n ? 0 : Number(debt) / Number(debt + state.liquidity),
    // supplyApy is net of the reserve factor.
    performanceFee: 0,
    managementFee: 0,
    ltv: ltvOf(configuration, own),
    borrowable:
      isOpen &&
      (sentinelLends || !poolMath(state.revision).asksSentinel) &&
      (configuration.isBorrowingEnabled || own.some(({ isBorrowable }) => isBorrowable)) &&
      lendableOf(state, accrued) > 0n,
    // The aToken of a facilitator takes no deposits: what it lends is minted.
    depositEnabled: isOpen && !isFull(accrued) && (state.mintable ?? null) === null,
  };
}

/** What an efficiency mode says of one reserve. */
function modeOf({ ltv, collateral, borrowable, ltvZero }: EMode, id: number) {
  const has = (bitmap: bigint) => ((bitmap >> BigInt(id)) & 1n) === 1n;
  return { ltv: has(collateral) ? (has(ltvZero) ? 0 : ltv) : null, isBorrowable: has(borrowable) };
}

/** Outside of efficiency modes; where it is no collateral there, the highest of the modes. */
function ltvOf(
  { ltv, liquidationThreshold }: ReserveConfiguration,
  modes: readonly { readonly ltv: number | null }[],
): number | null {
  if (liquidationThreshold !== 0) return ltv / 10_000;
  const ltvs = modes.flatMap((mode) => mode.ltv ?? []);
  return ltvs.length === 0 ? null : Math.max(...ltvs) / 10_000;
}

/** What can be borrowed now: min(liquidity, borrowCap − debt), of a facilitator what it may still mint. */
function lendableOf({ liquidity, mintable }: ReserveState, { configuration, debt }: AccruedReserve): bigint {
  const most = mintable ?? liquidity;
  if (configuration.borrowCap === 0n) return most;
  const left = inTokens(configuration.borrowCap, configuration.decimals) - debt;
  return left < most ? left : most;
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
