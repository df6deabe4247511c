import { readAddress, readUint } from "../../../shared/evm/abi.ts";
import type { Hex } from "../../../shared/evm/port.ts";
import type { ContractReader } from "../protocol.ts";
import { type Contract, contractAt } from "./contracts.ts";
import type { OracleState } from "./state.ts";

/**
 * The price of a token by the market's oracle, as of the reserve's last reading: prices change without an event. Null
 * where no oracle responds: the row then has no oracle price.
 */
export async function readOracle(
  { provider, asset }: { provider: Hex; asset: Hex },
  { reader, previous }: { reader: ContractReader; previous: OracleState | null },
): Promise<OracleState | null> {
  const [current, previousPrice] = await Promise.all([
    contractAt(reader, provider).call("getPriceOracle"),
    // The oracle rarely changes: one round of calls while it does not.
    previous && readPrice(contractAt(reader, previous.address), asset),
  ]);
  const address = readAddress(current, 0);
  if (previous?.address === address) return { ...previous, price: previousPrice ?? 0n };
  const oracle = contractAt(reader, address);
  const [baseCurrency, baseUnit, price] = await Promise.all([
    oracle.tryCall("BASE_CURRENCY"),
    oracle.tryCall("BASE_CURRENCY_UNIT"),
    readPrice(oracle, asset),
  ]);
  if (baseCurrency === null || baseUnit === null) return null;
  return { address, baseCurrency: readAddress(baseCurrency, 0), baseUnit: readUint(baseUnit, 0), price };
}

async function readPrice(oracle: Contract, asset: Hex): Promise<bigint> {
  const returned = await oracle.tryCall("getAssetPrice", asset);
  return returned === null ? 0n : readUint(returned, 0);
}
