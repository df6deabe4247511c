import { readUint } from "../../../shared/evm/abi.ts";
import type { UnitReader } from "../protocol.ts";
import { fromFixed, type OraclePrice } from "../rows.ts";
import { contractAt } from "./calls.ts";

/** What an oracle said one whole token is worth. */
export type Quote = {
  /** In the unit's smallest parts. */
  readonly amount: bigint;
  readonly decimals: number;
  /** "USD", or the token that the oracle counts in. */
  readonly unit: string;
};

/** ISO 4217's number of the US dollar as an address: Euler's unit of account for it, with 18 decimals. */
const USD = `0x${(840).toString(16).padStart(40, "0")}`;
/** Addresses up to this one stand for currencies and other things that are no tokens. */
const LAST_RESERVED = 0xffffffffn;

/**
 * Asks a vault's oracle for its asset in its unit of account. Null where there is no oracle, where it reverts, where the
 * unit is the asset itself, and where the unit is neither the dollar nor a token that tells its decimals.
 */
export async function readQuote(
  of: { oracle: string; unitOfAccount: string; asset: { address: string; decimals: number } },
  reader: UnitReader,
): Promise<Quote | null> {
  const { oracle, unitOfAccount, asset } = of;
  if (BigInt(oracle) === 0n || unitOfAccount === asset.address) return null;
  const isUsd = unitOfAccount === USD;
  if (!isUsd && BigInt(unitOfAccount) <= LAST_RESERVED) return null;
  const args = [
    10n ** BigInt(asset.decimals),
    asset.address as `0x${string}`,
    unitOfAccount as `0x${string}`,
  ];
  const [answer, unit] = await Promise.all([
    contractAt(reader, oracle).ask("getQuote(uint256,address,address)", args),
    isUsd ? { decimals: 18, symbol: "USD" } : reader.token(unitOfAccount),
  ]);
  if (answer === null || answer.length !== 66 || (unit.symbol === "" && unit.decimals === 0)) return null;
  return { amount: readUint(answer, 0), decimals: unit.decimals, unit: isUsd ? "USD" : unitOfAccount };
}

export function toOraclePrice(quote: Quote | null): OraclePrice | null {
  return quote && { value: fromFixed(quote.amount, quote.decimals), unit: quote.unit };
}
