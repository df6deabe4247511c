import { encodeCall } from "../../../shared/evm/abi.ts";
import type { Hex } from "../../../shared/evm/port.ts";
import { type ContractReader, UnreadableEntity } from "../protocol.ts";

/** Selectors of the functions that are called. */
const SELECTORS = {
  // PoolAddressesProvider
  getPool: "0x026b1d5f",
  getPoolConfigurator: "0x631adfca",
  getPriceOracle: "0xfca513a8",
  // Pool
  ADDRESSES_PROVIDER: "0x0542975c",
  POOL_REVISION: "0x0148170e",
  getReservesList: "0xd1946dbc",
  getReserveData: "0x35ea6a75",
  getVirtualUnderlyingBalance: "0x6fb07f96",
  // Tokens
  scaledTotalSupply: "0xb1bf962d",
  getSupplyData: "0x79774338",
  balanceOf: "0x70a08231",
  // AaveOracle
  BASE_CURRENCY: "0xe19f4700",
  BASE_CURRENCY_UNIT: "0x8c89b64f",
  getAssetPrice: "0xb3596f07",
} as const satisfies Record<string, Hex>;

type FunctionName = keyof typeof SELECTORS;

export const ZERO_ADDRESS: Hex = `0x${"0".repeat(40)}`;

/** One contract at the reader's block. */
export interface Contract {
  /** Return data; null where the call reverts. */
  tryCall(name: FunctionName, ...args: Hex[]): Promise<Hex | null>;
  /** Return data; rejects with UnreadableEntity where the call reverts. */
  call(name: FunctionName, ...args: Hex[]): Promise<Hex>;
}

export function contractAt(reader: ContractReader, address: Hex): Contract {
  const tryCall = (name: FunctionName, args: Hex[]) =>
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
