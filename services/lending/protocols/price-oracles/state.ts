import type { EntityRef } from "../protocol.ts";

/** Kind of a price oracle; the id is the address of an Aave market's provider, or `chainlink` for all feeds. */
export const PRICE_ORACLE = "price-oracle";
export const CHAINLINK = "chainlink";

export function oracleRef(id: string): EntityRef {
  return { kind: PRICE_ORACLE, id };
}

// Types, not interfaces: only type aliases are assignable to EntityState.

/** One token's price by an oracle. */
export type OraclePrice = {
  /** Lower case. */
  readonly token: string;
  /** USD for one whole token, in units of `unit`; above 0. */
  readonly answer: bigint;
  readonly unit: bigint;
  /** Unix seconds at which the oracle was told it; null where it does not say. */
  readonly toldAt: number | null;
};

export type OracleState = {
  readonly source: "aave" | "chainlink";
  readonly prices: readonly OraclePrice[];
};
