import type { Hex } from "../../../shared/evm/port.ts";
import type { UnitRef } from "../protocol.ts";

export const MARKET = "morpho-market";
export const VAULT = "metamorpho-vault";

export const ZERO_ADDRESS = "0x0000000000000000000000000000000000000000";

/** A market's unit; its id is keccak256 of its parameters, as Morpho has it. */
export function marketRef(id: Hex): UnitRef {
  return { kind: MARKET, id: id.toLowerCase() };
}

/** A vault's unit; its id is its address. */
export function vaultRef(address: Hex): UnitRef {
  return { kind: VAULT, id: address.toLowerCase() };
}

// Types, not interfaces: only those are plain data (UnitState) to the compiler.

export type Token = {
  readonly address: string;
  readonly symbol: string;
  readonly decimals: number;
};

/** Set at creation, for ever. */
export type MarketParams = {
  readonly loan: Token;
  /** The zero address and "" where nothing can be borrowed against. */
  readonly collateral: Token;
  readonly oracle: string;
  readonly irm: string;
  /** WAD. */
  readonly lltv: bigint;
};

/** What Morpho and the interest rate model hold of a market: not accrued. See `StoredMarket` for the units. */
export type MarketState = {
  readonly params: MarketParams;
  readonly supplyAssets: bigint;
  readonly supplyShares: bigint;
  readonly borrowAssets: bigint;
  readonly borrowShares: bigint;
  readonly lastUpdate: number;
  readonly fee: bigint;
  readonly rateAtTarget: bigint | null;
  readonly borrowRate: bigint | null;
};

/** A market in a vault's withdraw queue, which holds every market that is enabled. */
export type VaultMarket = {
  readonly id: string;
  /** Raw units of the asset; 2^184 − 1 at most. */
  readonly cap: bigint;
  readonly enabled: boolean;
  /** Unix seconds from which the market may be removed with assets in it; 0 = no removal is pending. */
  readonly removableAt: number;
  /** A higher cap that waits for its timelock; `validAt` 0 = none. */
  readonly pendingCap: { readonly value: bigint; readonly validAt: number };
  /** The vault's supply shares in the market. */
  readonly shares: bigint;
};

export type VaultState = {
  readonly name: string;
  readonly symbol: string;
  readonly asset: Token;
  /** Digits that the shares have beyond the asset's. */
  readonly decimalsOffset: number;
  readonly owner: string;
  /** The zero address where none is set, and so for the next two. */
  readonly curator: string;
  readonly guardian: string;
  readonly feeRecipient: string;
  /** Seconds. */
  readonly timelock: number;
  /** WAD, of the interest. */
  readonly fee: bigint;
  readonly totalSupply: bigint;
  readonly lastTotalAssets: bigint;
  /** What a vault of v1.1 once had and lost, and counts on; null in v1.0, which forgets it. */
  readonly lostAssets: bigint | null;
  readonly supplyQueue: readonly string[];
  readonly markets: readonly VaultMarket[];
};
