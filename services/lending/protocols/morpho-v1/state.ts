import type { Hex } from "../../../shared/evm/port.ts";
import type { EntityRef } from "../protocol.ts";

export const MARKET = "morpho-market";
export const VAULT = "metamorpho-vault";
/** Who made a vault: the ids are `<vault>:<account>`. */
export const CREATION = "metamorpho-creation";

export const ZERO_ADDRESS = "0x0000000000000000000000000000000000000000";

/** A market's entity; its id is keccak256 of its parameters, as in Morpho. */
export function marketRef(id: Hex): EntityRef {
  return { kind: MARKET, id: id.toLowerCase() };
}

/** A vault's entity; its id is its address. */
export function vaultRef(address: Hex): EntityRef {
  return { kind: VAULT, id: address.toLowerCase() };
}

/** That this account made this vault. */
export function creationRef(vault: string, account: string): EntityRef {
  return { kind: CREATION, id: `${vault}:${account}` };
}

// Types, not interfaces: only type aliases are assignable to EntityState.

export type Token = {
  readonly address: string;
  readonly symbol: string;
  readonly decimals: number;
};

/** Immutable. */
export type MarketParams = {
  readonly loan: Token;
  /** The zero address and "" for a market without collateral. */
  readonly collateral: Token;
  readonly oracle: string;
  readonly irm: string;
  /** WAD. */
  readonly lltv: bigint;
};

/** A market in the storage of Morpho and its interest rate model: not accrued. See `StoredMarket` for the units. */
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

/** A market in a vault's withdraw queue, which contains every enabled market. */
export type VaultMarket = {
  readonly id: string;
  /** Raw units of the asset; at most 2^184 − 1. */
  readonly cap: bigint;
  readonly enabled: boolean;
  /** Unix seconds from which the market may be removed with assets in it; 0 = no removal is pending. */
  readonly removableAt: number;
  /** A raised cap under timelock; `validAt` 0 = none. */
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
  /** The zero address = not set; also for the next two. */
  readonly curator: string;
  readonly guardian: string;
  readonly feeRecipient: string;
  /** Seconds. */
  readonly timelock: number;
  /** Share (WAD) of the interest. */
  readonly fee: bigint;
  readonly totalSupply: bigint;
  readonly lastTotalAssets: bigint;
  /** Losses that v1.1 still counts in totalAssets(); null in v1.0, which does not. */
  readonly lostAssets: bigint | null;
  readonly supplyQueue: readonly string[];
  readonly markets: readonly VaultMarket[];
};
