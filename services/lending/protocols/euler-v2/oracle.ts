import { readUint } from "../../../shared/evm/abi.ts";
import type { ContractReader } from "../protocol.ts";
import { fromFixed, type OraclePrice } from "../rows.ts";
import { contractAt } from "./calls.ts";

/** An oracle's price of one whole token. */
export type Quote = {
  /** In raw units of the unit of account. */
  readonly amount: bigint;
  readonly decimals: number;
  /** The unit of account: "USD" or a token. */
  readonly unit: string;
};

/** ISO 4217's number of the US dollar as an address: Euler's unit of account for USD, with 18 decimals. */
const USD = `0x${(840).toString(16).padStart(40, "0")}`;
/** Addresses up to this one are currency codes and other non-tokens. */
const LAST_RESERVED = 0xffffffffn;

/**
 * Reads the price of a vault's asset in its unit of account from its oracle. Null without an oracle, where it reverts,
 * where the unit is the asset itself, and where the unit is neither USD nor a token with decimals.
 */
export async function readQuote(
  {
    oracle,
    unitOfAccount,
    asset,
  }: { oracle: string; unitOfAccount: string; asset: { address: string; decimals: number } },
  reader: ContractReader,
): Promise<Quote | null> {
  if (BigInt(oracle) === 0n || unitOfAccount === asset.address) return null;
  const isUsd = unitOfAccount === USD;
  if (!isUsd && BigInt(unitOfAccount) <= LAST_RESERVED) return null;
  const args = [
    10n ** BigInt(asset.decimals),
    asset.address as `0x${string}`,
    unitOfAccount as `0x${string}`,
  ];
  const [data, unit] = await Promise.all([
    contractAt(reader, oracle).tryCall("getQuote(uint256,address,address)", args),
    isUsd ? { decimals: 18, symbol: "USD" } : reader.token(unitOfAccount),
  ]);
  if (data === null || data.length !== 66 || (unit.symbol === "" && unit.decimals === 0)) return null;
  return { amount: readUint(data, 0), decimals: unit.decimals, unit: isUsd ? "USD" : unitOfAccount };
}

export function toOraclePrice(quote: Quote | null): OraclePrice | null {
  return quote && { value: fromFixed(quote.amount, quote.decimals), unit: quote.unit };
}
