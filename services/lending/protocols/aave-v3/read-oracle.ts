import { readAddress, readUint } from "../../../shared/evm/abi.ts";
import type { Hex } from "../../../shared/evm/port.ts";
import type { UnitReader } from "../protocol.ts";
import { type Contract, contractAt } from "./contracts.ts";
import type { OracleState } from "./state.ts";

/** What the market's oracle says of a token; null where it has no oracle that answers, which costs a row only its price. */
export async function readOracle(
  { provider, asset }: { provider: Hex; asset: Hex },
  { reader, previous }: { reader: UnitReader; previous: OracleState | null },
): Promise<OracleState | null> {
  const [named, early] = await Promise.all([
    contractAt(reader, provider).must("getPriceOracle"),
    // The oracle is hardly ever another one than last time.
    previous && readPrice(contractAt(reader, previous.address), asset),
  ]);
  const address = readAddress(named, 0);
  if (previous?.address === address) return { ...previous, price: early ?? 0n };
  const oracle = contractAt(reader, address);
  const [baseCurrency, baseUnit, price] = await Promise.all([
    oracle.ask("BASE_CURRENCY"),
    oracle.ask("BASE_CURRENCY_UNIT"),
    readPrice(oracle, asset),
  ]);
  if (baseCurrency === null || baseUnit === null) return null;
  return { address, baseCurrency: readAddress(baseCurrency, 0), baseUnit: readUint(baseUnit, 0), price };
}

async function readPrice(oracle: Contract, asset: Hex): Promise<bigint> {
  const answer = await oracle.ask("getAssetPrice", asset);
  return answer === null ? 0n : readUint(answer, 0);
}
