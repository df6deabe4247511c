import { readAddress, readInt } from "../../../shared/evm/abi.ts";
import type { Hex } from "../../../shared/evm/port.ts";
import { type ContractReader, type EntityReading, UnreadableEntity } from "../protocol.ts";
import { contractAt, ZERO_ADDRESS } from "./contracts.ts";
import { type MarketState, reserveRef } from "./state.ts";

/** Reads the contracts that a PoolAddressesProvider names, and its Pool's reserves. */
export async function readMarket(provider: Hex, reader: ContractReader): Promise<EntityReading<MarketState>> {
  const { call } = contractAt(reader, provider);
  const [pool, configurator, oracle] = await Promise.all([
    call("getPool").then(toAddress),
    call("getPoolConfigurator").then(toAddress),
    call("getPriceOracle").then(toAddress),
  ]);
  if (pool === ZERO_ADDRESS) throw new UnreadableEntity(`${provider} names no Pool`);
  const reserves = toAddresses(await contractAt(reader, pool).call("getReservesList"));
  return {
    state: { pool, configurator, oracle, reserves },
    references: reserves.map((asset) => reserveRef(pool, asset)),
  };
}

function toAddress(data: Hex): Hex {
  return readAddress(data, 0);
}

/** Decodes an address[]: its offset, its length, its words. */
function toAddresses(data: Hex): Hex[] {
  const start = readInt(data, 0) / 32;
  return Array.from({ length: readInt(data, start) }, (_, i) => readAddress(data, start + 1 + i));
}
