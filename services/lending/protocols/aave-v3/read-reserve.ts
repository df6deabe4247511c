import { readAddress, readInt, readUint } from "../../../shared/evm/abi.ts";
import type { Hex } from "../../../shared/evm/port.ts";
import { type ContractReader, UnreadableEntity } from "../protocol.ts";
import { readConfiguration } from "./configuration.ts";
import { contractAt, ZERO_ADDRESS } from "./contracts.ts";
import { poolMath } from "./math.ts";
import type { ReserveState, StableDebt } from "./state.ts";

interface ReserveAddress {
  readonly pool: Hex;
  readonly asset: Hex;
}

interface ReadContext {
  readonly reader: ContractReader;
  readonly previous: ReserveState | null;
}

/**
 * Reads a reserve's storage; null where the Pool has no such reserve (any more). Contracts of the last state are called
 * together with the Pool: one round of calls, unless the Pool names other contracts now.
 */
export async function readReserve(
  { pool, asset }: ReserveAddress,
  { reader, previous }: ReadContext,
): Promise<ReserveState | null> {
  const contract = contractAt(reader, pool);
  const [data, revisionData, virtualBalance, ofPreviousTokens] = await Promise.all([
    contract.call("getReserveData", asset),
    contract.call("POOL_REVISION"),
    contract.tryCall("getVirtualUnderlyingBalance", asset),
    previous && readTokens(tokensOf(previous), { asset, reader }),
  ]);
  // getReserveData still returns the struct of v3.0; its stable debt fields are unused since v3.2.
  const tokens: Tokens = {
    aToken: readAddress(data, 8),
    stableDebtToken: readAddress(data, 9),
    variableDebtToken: readAddress(data, 10),
  };
  if (tokens.aToken === ZERO_ADDRESS) return null;
  const isUnchanged = previous !== null && isSame(tokens, tokensOf(previous));
  const { balance, ...tokenState } =
    ofPreviousTokens !== null && isUnchanged ? ofPreviousTokens : await readTokens(tokens, { asset, reader });
  const configuration = readUint(data, 0);
  const revision = readInt(revisionData, 0);
  const isVirtual =
    poolMath(revision).virtualAccounting === "all" || readConfiguration(configuration).isVirtuallyAccounted;
  // Without virtual accounting (v3.0) donations change the balance without an event: it is as of the last reading.
  const liquidity = (isVirtual ? virtualBalance : null) ?? balance;
  const bucket = isVirtual
    ? null
    : await contractAt(reader, asset).tryCall("getFacilitatorBucket", tokens.aToken);
  if (liquidity === null) throw new UnreadableEntity(`balanceOf of ${asset} reverts`);
  return {
    revision,
    configuration,
    liquidityIndex: readUint(data, 1),
    liquidityRate: readUint(data, 2),
    variableBorrowIndex: readUint(data, 3),
    variableBorrowRate: readUint(data, 4),
    lastUpdate: readInt(data, 6),
    id: readInt(data, 7),
    accruedToTreasury: readUint(data, 12),
    ...tokenState,
    liquidity: readUint(liquidity, 0),
    mintable: bucket === null ? null : roomIn(bucket),
  };
}

/** Capacity less level of a facilitator's bucket; null without capacity. */
function roomIn(bucket: Hex): bigint | null {
  if (bucket.length < 2 + 2 * 64) return null;
  const [capacity, level] = [readUint(bucket, 0), readUint(bucket, 1)];
  if (capacity === 0n) return null;
  return capacity > level ? capacity - level : 0n;
}

interface Tokens {
  readonly aToken: Hex;
  readonly stableDebtToken: Hex;
  readonly variableDebtToken: Hex;
}

function tokensOf({ aToken, stableDebtToken, variableDebtToken }: ReserveState): Tokens {
  return { aToken: aToken.address, stableDebtToken, variableDebtToken };
}

function isSame(a: Tokens, b: Tokens): boolean {
  return (
    a.aToken === b.aToken &&
    a.stableDebtToken === b.stableDebtToken &&
    a.variableDebtToken === b.variableDebtToken
  );
}

async function readTokens(tokens: Tokens, { asset, reader }: { asset: Hex; reader: ContractReader }) {
  const { stableDebtToken, variableDebtToken } = tokens;
  const [underlying, aToken, balance, scaledSupply, scaledVariableDebt, stable] = await Promise.all([
    reader.token(asset),
    reader.token(tokens.aToken),
    contractAt(reader, asset).tryCall("balanceOf", tokens.aToken),
    contractAt(reader, tokens.aToken).call("scaledTotalSupply"),
    contractAt(reader, variableDebtToken).call("scaledTotalSupply"),
    stableDebtToken === ZERO_ADDRESS ? null : contractAt(reader, stableDebtToken).tryCall("getSupplyData"),
  ]);
  return {
    underlying: { address: asset, symbol: underlying.symbol },
    aToken: { address: tokens.aToken, symbol: aToken.symbol, name: aToken.name },
    variableDebtToken,
    stableDebtToken,
    balance,
    scaledSupply: readUint(scaledSupply, 0),
    scaledVariableDebt: readUint(scaledVariableDebt, 0),
    stableDebt: toStableDebt(stable),
  };
}

/** Since v3.2 one placeholder contract, if any, returns zero for all stable debt tokens. */
function toStableDebt(data: Hex | null): StableDebt | null {
  if (data === null || readUint(data, 0) === 0n) return null;
  return {
    principal: readUint(data, 0),
    averageRate: readUint(data, 2),
    lastUpdate: readInt(data, 3),
  };
}
