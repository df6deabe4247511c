import { encodeCall } from "../../../shared/evm/abi.ts";
import type { Hex } from "../../../shared/evm/port.ts";
import { type ContractReader, UnreadableEntity } from "../protocol.ts";

/** Selectors of the functions that are called. */
const SELECTORS = {
  // PoolAddressesProvider
  getPool: "0x026b1d5f",
  getPoolConfigurator: "0x631adfca",
  getPriceOracleSentinel: "0x5eb88d3d",
  // PriceOracleSentinel
  isBorrowAllowed: "0x49aa2e81",
  // Pool
  POOL_REVISION: "0x0148170e",
  getReservesList: "0xd1946dbc",
  getReserveData: "0x35ea6a75",
  getVirtualUnderlyingBalance: "0x6fb07f96",
  getEModeCategoryCollateralConfig: "0xb286f467",
  getEModeCategoryCollateralBitmap: "0xb0771dba",
  getEModeCategoryBorrowableBitmap: "0x903a2c71",
  getEModeCategoryLtvzeroBitmap: "0xfd89dee5",
  // Tokens
  scaledTotalSupply: "0xb1bf962d",
  getSupplyData: "0x79774338",
  balanceOf: "0x70a08231",
  // GHO
  getFacilitatorBucket: "0xaa02f94a",
} as const satisfies Record<string, Hex>;

type FunctionName = keyof typeof SELECTORS;

export const ZERO_ADDRESS: Hex = `0x${"0".repeat(40)}`;

/** One contract at the reader's block. */
export interface Contract {
  /** Return data; null where the call reverts. */
  tryCall(name: FunctionName, ...args: (Hex | number)[]): Promise<Hex | null>;
  /** Return data; rejects with UnreadableEntity where the call reverts. */
  call(name: FunctionName, ...args: (Hex | number)[]): Promise<Hex>;
}

export function contractAt(reader: ContractReader, address: Hex): Contract {
  const tryCall = (name: FunctionName, args: (Hex | number)[]) =>
    reader.call(address, encodeCall(SELECTORS[name], args));
  return {
    tryCall: (name, ...args) => tryCall(name, args),
    async call(name, ...args) {
      const returned = await tryCall(name, args);
      if (returned === null) throw new UnreadableEntity(`${name} of ${address} reverts`);
      return returned;
    },
  };
}
