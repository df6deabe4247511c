import type { Hex } from "../../../shared/evm/port.ts";
import type { EntityRef } from "../protocol.ts";

/** Kind of a market; the id is the address of its PoolAddressesProvider. */
export const MARKET = "aave-market";
/** Kind of a reserve (one token of one Pool); the id is `<pool>:<token>`. */
export const RESERVE = "aave-reserve";

/** Kind of what a market asks before it lends; the id is the address of its PoolAddressesProvider. */
export const SENTINEL = "aave-sentinel";

export function marketRef(provider: Hex): EntityRef {
  return { kind: MARKET, id: provider };
}

export function reserveRef(pool: Hex, asset: Hex): EntityRef {
  return { kind: RESERVE, id: `${pool}:${asset}` };
}

export function sentinelRef(provider: Hex): EntityRef {
  return { kind: SENTINEL, id: provider };
}

// Types, not interfaces: only type aliases are assignable to EntityState.

export type MarketState = {
  readonly pool: Hex;
  readonly configurator: Hex;
  /** Tokens, in the Pool's order. */
  readonly reserves: readonly Hex[];
  /** Since v3.6, where they decide alone what their users may borrow and pledge; empty before. */
  readonly eModes: readonly EMode[];
};

export type SentinelState = {
  /** The zero address where the market asks nobody. */
  readonly sentinel: Hex;
  readonly lends: boolean;
};

/** An efficiency mode. Of each bitmap, bit n is for the reserve whose id is n. */
export type EMode = {
  /** Hundredths of a percent. */
  readonly ltv: number;
  readonly collateral: bigint;
  readonly borrowable: bigint;
  /** Collateral that carries no new debt. */
  readonly ltvZero: bigint;
};

/** As the contracts store it, i.e. as of `lastUpdate` (Unix seconds). Rates (yearly) and indexes are rays. */
export type ReserveState = {
  readonly revision: number;
  /** The reserve's place in the bitmaps of efficiency modes. */
  readonly id: number;
  readonly underlying: { readonly address: Hex; readonly symbol: string };
  readonly aToken: { readonly address: Hex; readonly symbol: string; readonly name: string };
  readonly variableDebtToken: Hex;
  /** The zero address where the reserve has none. */
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
  /** Null without debt at a stable rate; always since v3.2. */
  readonly stableDebt: StableDebt | null;
  /** Raw tokens available to borrow or withdraw. */
  readonly liquidity: bigint;
  /** Raw tokens that the aToken may still mint as a facilitator of GHO (v3.0 to v3.3); null for all other reserves. */
  readonly mintable: bigint | null;
};

export type StableDebt = {
  /** Raw tokens at `lastUpdate`. */
  readonly principal: bigint;
  readonly averageRate: bigint;
  readonly lastUpdate: number;
};

/** As in `deployments`; `name` is documentation only. */
export interface AaveMarket {
  readonly name: string;
  readonly provider: Hex;
}

export interface AaveDeployment {
  readonly markets: readonly AaveMarket[];
}
