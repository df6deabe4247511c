import { readAddress, readInt, readUint } from "../../../shared/evm/abi.ts";
import type { Hex } from "../../../shared/evm/port.ts";
import { type ContractReader, type EntityReading, UnreadableEntity } from "../protocol.ts";
import { type Contract, contractAt, ZERO_ADDRESS } from "./contracts.ts";
import { poolMath } from "./math.ts";
import { type EMode, type MarketState, reserveRef } from "./state.ts";

/** Reads the contracts that a PoolAddressesProvider names, and its Pool's reserves. */
export async function readMarket(provider: Hex, reader: ContractReader): Promise<EntityReading<MarketState>> {
  const { call } = contractAt(reader, provider);
  const [pool, configurator] = await Promise.all([
    call("getPool").then(toAddress),
    call("getPoolConfigurator").then(toAddress),
  ]);
  if (pool === ZERO_ADDRESS) throw new UnreadableEntity(`${provider} names no Pool`);
  const contract = contractAt(reader, pool);
  const [reserves, eModes] = await Promise.all([
    contract.call("getReservesList").then(toAddresses),
    readEModes(contract),
  ]);
  return {
    state: { pool, configurator, reserves, eModes },
    references: reserves.map((asset) => reserveRef(pool, asset)),
  };
}

/** Efficiency modes per call; their ids are given one by one, with few gaps, and no getter lists them. */
const PAGE = 16;
const LAST_ID = 255;

/** Reads on for as long as one of the last ids exists. */
async function readEModes(pool: Contract): Promise<EMode[]> {
  if (!poolMath(readInt(await pool.call("POOL_REVISION"), 0)).eModesStandAlone) return [];
  const eModes: EMode[] = [];
  for (let start = 1; start <= LAST_ID; start += PAGE) {
    const ids = Array.from({ length: Math.min(PAGE, LAST_ID + 1 - start) }, (_, i) => start + i);
    const page = (await Promise.all(ids.map((id) => readEMode(pool, id)))).flat();
    if (page.length === 0) break;
    eModes.push(...page);
  }
  return eModes;
}

async function readEMode(pool: Contract, id: number): Promise<EMode[]> {
  const [config, collateral, borrowable, ltvZero] = await Promise.all([
    pool.call("getEModeCategoryCollateralConfig", id),
    pool.call("getEModeCategoryCollateralBitmap", id),
    pool.call("getEModeCategoryBorrowableBitmap", id),
    pool.tryCall("getEModeCategoryLtvzeroBitmap", id),
  ]);
  // Without a liquidation threshold there is no such mode.
  if (readUint(config, 1) === 0n) return [];
  return [
    {
      ltv: readInt(config, 0),
      collateral: readUint(collateral, 0),
      borrowable: readUint(borrowable, 0),
      ltvZero: ltvZero === null ? 0n : readUint(ltvZero, 0),
    },
  ];
}

function toAddress(data: Hex): Hex {
  return readAddress(data, 0);
}

/** Decodes an address[]: its offset, its length, its words. */
function toAddresses(data: Hex): Hex[] {
  const start = readInt(data, 0) / 32;
  return Array.from({ length: readInt(data, start) }, (_, i) => readAddress(data, start + 1 + i));
}
