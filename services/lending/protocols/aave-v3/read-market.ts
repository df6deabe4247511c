import { readAddress, readInt } from "../../../shared/evm/abi.ts";
import type { Hex } from "../../../shared/evm/port.ts";
import { type UnitReader, type UnitReading, UnreadableUnit } from "../protocol.ts";
import { contractAt, ZERO_ADDRESS } from "./contracts.ts";
import { type MarketState, reserveRef } from "./state.ts";

/** What a PoolAddressesProvider names, and its Pool's reserves. */
export async function readMarket(provider: Hex, reader: UnitReader): Promise<UnitReading<MarketState>> {
  const { must } = contractAt(reader, provider);
  const [pool, configurator, oracle] = await Promise.all([
    must("getPool").then(toAddress),
    must("getPoolConfigurator").then(toAddress),
    must("getPriceOracle").then(toAddress),
  ]);
  if (pool === ZERO_ADDRESS) throw new UnreadableUnit(`${provider} names no Pool`);
  const reserves = toAddresses(await contractAt(reader, pool).must("getReservesList"));
  return {
    state: { pool, configurator, oracle, reserves },
    found: reserves.map((asset) => reserveRef(pool, asset)),
  };
}

function toAddress(answer: Hex): Hex {
  return readAddress(answer, 0);
}

/** An address[]: where it begins, its length, its words. */
function toAddresses(answer: Hex): Hex[] {
  const start = readInt(answer, 0) / 32;
  return Array.from({ length: readInt(answer, start) }, (_, i) => readAddress(answer, start + 1 + i));
}
