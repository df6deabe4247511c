import { readAddress, readInt, readUint } from "../../../shared/evm/abi.ts";
import type { Hex } from "../../../shared/evm/port.ts";
import { type UnitReader, UnreadableUnit } from "../protocol.ts";
import { readConfiguration } from "./configuration.ts";
import { contractAt, ZERO_ADDRESS } from "./contracts.ts";
import { poolMath } from "./math.ts";
import { readOracle } from "./read-oracle.ts";
import type { ReserveState, StableDebt } from "./state.ts";

interface Reserve {
  readonly pool: Hex;
  readonly asset: Hex;
}

interface Reading {
  readonly reader: UnitReader;
  readonly previous: ReserveState | null;
}

/**
 * A reserve's storage; null where the Pool has no such reserve (any more). Contracts that the last state names are
 * asked together with the Pool: one round of calls, unless it names others now.
 */
export async function readReserve(reserve: Reserve, reading: Reading): Promise<ReserveState | null> {
  const [stored, priced] = await Promise.all([readStored(reserve, reading), readPriced(reserve, reading)]);
  return stored && { ...stored, ...priced };
}

type Priced = Pick<ReserveState, "provider" | "oracle">;

async function readPriced({ pool, asset }: Reserve, { reader, previous }: Reading): Promise<Priced> {
  const provider =
    previous?.provider ?? readAddress(await contractAt(reader, pool).must("ADDRESSES_PROVIDER"), 0);
  const oracle = await readOracle({ provider, asset }, { reader, previous: previous?.oracle ?? null });
  return { provider, oracle };
}

async function readStored({ pool, asset }: Reserve, { reader, previous }: Reading) {
  const contract = contractAt(reader, pool);
  const [data, revisionAnswer, virtualBalance, early] = await Promise.all([
    contract.must("getReserveData", asset),
    contract.must("POOL_REVISION"),
    contract.ask("getVirtualUnderlyingBalance", asset),
    previous && readTokens(tokensOf(previous), { asset, reader }),
  ]);
  // The struct of v3.0, whose layout getReserveData has kept: fields of stable debt say nothing since v3.2.
  const tokens: Tokens = {
    aToken: readAddress(data, 8),
    stableDebtToken: readAddress(data, 9),
    variableDebtToken: readAddress(data, 10),
  };
  if (tokens.aToken === ZERO_ADDRESS) return null;
  const isAsBefore = previous !== null && isSame(tokens, tokensOf(previous));
  const { balance, ...held } =
    early !== null && isAsBefore ? early : await readTokens(tokens, { asset, reader });
  const configuration = readUint(data, 0);
  const revision = readInt(revisionAnswer, 0);
  const isVirtual =
    poolMath(revision).virtualAccounting === "all" || readConfiguration(configuration).isVirtuallyAccounted;
  const liquidity = (isVirtual ? virtualBalance : null) ?? balance;
  if (liquidity === null) throw new UnreadableUnit(`balanceOf of ${asset} does not answer`);
  return {
    revision,
    configuration,
    liquidityIndex: readUint(data, 1),
    liquidityRate: readUint(data, 2),
    variableBorrowIndex: readUint(data, 3),
    variableBorrowRate: readUint(data, 4),
    lastUpdate: readInt(data, 6),
    accruedToTreasury: readUint(data, 12),
    ...held,
    liquidity: readUint(liquidity, 0),
  };
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

async function readTokens(tokens: Tokens, { asset, reader }: { asset: Hex; reader: UnitReader }) {
  const { stableDebtToken, variableDebtToken } = tokens;
  const [underlying, aToken, balance, scaledSupply, scaledVariableDebt, stable] = await Promise.all([
    reader.token(asset),
    reader.token(tokens.aToken),
    contractAt(reader, asset).ask("balanceOf", tokens.aToken),
    contractAt(reader, tokens.aToken).must("scaledTotalSupply"),
    contractAt(reader, variableDebtToken).must("scaledTotalSupply"),
    stableDebtToken === ZERO_ADDRESS ? null : contractAt(reader, stableDebtToken).ask("getSupplyData"),
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

/** Since v3.2 a stand-in answers for all stable debt tokens, if any: that there is none. */
function toStableDebt(answer: Hex | null): StableDebt | null {
  if (answer === null || readUint(answer, 0) === 0n) return null;
  return {
    principal: readUint(answer, 0),
    averageRate: readUint(answer, 2),
    lastUpdate: readInt(answer, 3),
  };
}
