import type { Hex } from "../../../shared/evm/port.ts";
import type { UnitRef } from "../protocol.ts";

/** One PoolAddressesProvider; its address is the id. */
export const MARKET = "aave-market";
/** One token of one Pool; the id is `<pool>:<token>`. */
export const RESERVE = "aave-reserve";

export function marketRef(provider: Hex): UnitRef {
  return { kind: MARKET, id: provider };
}

export function reserveRef(pool: Hex, asset: Hex): UnitRef {
  return { kind: RESERVE, id: `${pool}:${asset}` };
}

/** Types, not interfaces: only those count as plain data. */
export type MarketState = {
  readonly pool: Hex;
  readonly configurator: Hex;
  readonly oracle: Hex;
  /** Tokens, in the Pool's order. */
  readonly reserves: readonly Hex[];
};

/** As the contracts store it, which is as it was at `lastUpdate` (Unix seconds). Rates are yearly; they and indexes are rays. */
export type ReserveState = {
  /** The Pool's PoolAddressesProvider. */
  readonly provider: Hex;
  readonly revision: number;
  readonly underlying: { readonly address: Hex; readonly symbol: string };
  readonly aToken: { readonly address: Hex; readonly symbol: string; readonly name: string };
  readonly variableDebtToken: Hex;
  /** The zero address where there is none. */
  readonly stableDebtToken: Hex;
  readonly configuration: bigint;
  readonly lastUpdate: number;
  readonly liquidityIndex: bigint;
  readonly liquidityRate: bigint;
  readonly variableBorrowIndex: bigint;
  readonly variableBorrowRate: bigint;
  /** In scaled aTokens. */
  readonly accruedToTreasury: bigint;
  readonly scaledSupply: bigint;
  readonly scaledVariableDebt: bigint;
  /** Null where nothing is owed at a stable rate; since v3.2 nothing is. */
  readonly stableDebt: StableDebt | null;
  /** Tokens that are there to be borrowed or withdrawn. */
  readonly liquidity: bigint;
  /** Null where the market has none that answers. */
  readonly oracle: OracleState | null;
};

export type StableDebt = {
  /** Raw tokens at `lastUpdate`. */
  readonly principal: bigint;
  readonly averageRate: bigint;
  readonly lastUpdate: number;
};

export type OracleState = {
  readonly address: Hex;
  /** The zero address is USD. */
  readonly baseCurrency: Hex;
  readonly baseUnit: bigint;
  /** Of one whole token, in base units; 0 where the oracle has none. */
  readonly price: bigint;
};

/** As `deployments` names it; `name` is for people. */
export interface AaveMarket {
  readonly name: string;
  readonly provider: Hex;
}

export interface AaveDeployment {
  readonly markets: readonly AaveMarket[];
}
