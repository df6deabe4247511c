import type { ProtocolId } from "./protocol-id.ts";

/**
 * Rows in token terms, before USD. Amounts are whole tokens (the float nearest to the exact amount, `toUnits`), rates
 * and shares fractions; null = uncapped, not applicable or not known, as the column's description says.
 */
export type LendingRow = VaultRow | MarketRow | VaultMarketRow;

export interface TokenRef {
  /** Lower case. */
  readonly address: string;
  readonly symbol: string;
}

interface ProtocolRow {
  readonly protocolId: ProtocolId;
}

interface Listed {
  /** Whether the protocol itself lists the row: its own contracts or its published list, never the row's creator. */
  readonly listed: boolean;
}

interface Rates {
  readonly supplyApy: number | null;
  readonly borrowApy: number | null;
  readonly utilizationRate: number;
}

/** A reserve of an Aave market or a vault: a row of …/pools, …/vaults and, with a curator, of …/curator/vaults. */
export interface VaultRow extends ProtocolRow, Rates, Listed {
  readonly table: "vault";
  /** `poolAddress` or `vaultAddress`, lower case. */
  readonly address: string;
  /** The curator, or the owner where none is set; null where vaults of this kind have none. */
  readonly curator: string | null;
  /** Whether that curator made the vault. The vault's owner can name anybody as its curator. */
  readonly isOfCurator: boolean;
  readonly symbol: string;
  readonly vaultName: string;
  readonly underlying: TokenRef;
  readonly supply: number;
  readonly borrow: number;
  readonly available: number;
  readonly supplyCap: number | null;
  readonly borrowCap: number | null;
  readonly performanceFee: number;
  readonly managementFee: number;
  readonly ltv: number | null;
  readonly borrowable: boolean;
  readonly depositEnabled: boolean;
}

/** A market that lends one token against another: a row of …/markets. */
export interface MarketRow extends ProtocolRow, Rates, Listed {
  readonly table: "market";
  readonly marketId: string;
  readonly loan: TokenRef;
  /** The zero address and "" for a market without collateral. */
  readonly collateral: TokenRef;
  readonly supply: number;
  readonly borrow: number;
  readonly available: number;
  /** `ltv` or `lltv`. */
  readonly ltv: number;
}

/** A market that a vault allocates to: a row of …/vault/markets. */
export interface VaultMarketRow extends ProtocolRow, Rates {
  readonly table: "vault-market";
  /** Lower case. */
  readonly vaultAddress: string;
  readonly marketId: string;
  readonly loan: TokenRef;
  readonly collateral: TokenRef;
  readonly ltv: number;
  /** Tokens that the vault has in the market, and their share of its assets; columns of Morpho only. */
  readonly allocation: number;
  readonly allocationShare: number;
  readonly supplyCap: number | null;
}

/** Raw units as whole tokens: the float nearest to the exact amount. */
export function toUnits(raw: bigint, decimals: number): number {
  return Number(`${raw}e-${decimals}`);
}

/** A fixed-point number of the chain (wad: 18 decimals, ray: 27) as the nearest float. */
export function fromFixed(raw: bigint, decimals: number): number {
  return Number(`${raw}e-${decimals}`);
}
