import { type ReserveConfiguration, readConfiguration } from "./configuration.ts";
import { compoundInterest, linearInterest } from "./interest.ts";
import { type PoolMath, poolMath } from "./math.ts";
import { percentMul, rayDiv, rayMul } from "./ray.ts";
import type { ReserveState, StableDebt } from "./state.ts";

/** A reserve at a given time, in raw tokens: what the contracts' views return then. */
export interface AccruedReserve {
  readonly configuration: ReserveConfiguration;
  /** totalSupply of the aToken. */
  readonly supply: bigint;
  /** `supply` plus what the treasury may mint: what the Pool compares with the supply cap. */
  readonly cappedSupply: bigint;
  /** At variable and stable rates. */
  readonly debt: bigint;
}

/**
 * Accrues interest to `time` (Unix seconds, not before the state's own) as Pool.getReserveNormalizedIncome and
 * …VariableDebt, the tokens' totalSupply and ReserveLogic's accrual to the treasury do at a block of that time.
 */
export function accrueReserve(state: ReserveState, time: number): AccruedReserve {
  const math = poolMath(state.revision);
  const configuration = readConfiguration(state.configuration);
  const seconds = time - state.lastUpdate;
  const income = rayMul(linearInterest(state.liquidityRate, seconds), state.liquidityIndex);
  const debtIndex = rayMul(
    compoundInterest(state.variableBorrowRate, seconds, math.compounding),
    state.variableBorrowIndex,
  );
  const stableDebt = state.stableDebt === null ? 0n : stableDebtAt(state.stableDebt, { time, math });
  const interest = variableInterest(state, { debtIndex, math }) + stableInterest(state, { stableDebt, math });
  const minted = percentMul(interest, configuration.reserveFactor);
  const treasury = state.accruedToTreasury + rayDiv(minted, income, math.supplyRounding);
  return {
    configuration,
    supply: rayMul(state.scaledSupply, income, math.supplyRounding),
    cappedSupply: rayMul(state.scaledSupply + treasury, income, math.supplyRounding),
    debt: rayMul(state.scaledVariableDebt, debtIndex, math.debtRounding) + stableDebt,
  };
}

function stableDebtAt(debt: StableDebt, { time, math }: { time: number; math: PoolMath }): bigint {
  const { principal, averageRate, lastUpdate } = debt;
  return rayMul(principal, compoundInterest(averageRate, time - lastUpdate, math.compounding));
}

/** Interest on variable debt since the reserve's last update. */
function variableInterest(
  { scaledVariableDebt, variableBorrowIndex }: ReserveState,
  { debtIndex, math }: { debtIndex: bigint; math: PoolMath },
): bigint {
  // v3.5 rounds the difference; earlier versions subtract two rounded debts.
  if (math.debtRounding === "ceil")
    return rayMul(scaledVariableDebt, debtIndex - variableBorrowIndex, "floor");
  return rayMul(scaledVariableDebt, debtIndex) - rayMul(scaledVariableDebt, variableBorrowIndex);
}

/** Interest on stable debt since the reserve's last update; the debt's own last update may be earlier. */
function stableInterest(
  { stableDebt: debt, lastUpdate }: ReserveState,
  { stableDebt, math }: { stableDebt: bigint; math: PoolMath },
): bigint {
  return debt === null ? 0n : stableDebt - stableDebtAt(debt, { time: lastUpdate, math });
}
