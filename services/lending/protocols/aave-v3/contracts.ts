import { encodeCall } from "../../../shared/evm/abi.ts";
import type { Hex } from "../../../shared/evm/port.ts";
import { type UnitReader, UnreadableUnit } from "../protocol.ts";

/** The functions that are called. */
const SELECTORS = {
  // Of PoolAddressesProvider.
  getPool: "0x026b1d5f",
  getPoolConfigurator: "0x631adfca",
  getPriceOracle: "0xfca513a8",
  // Of Pool.
  ADDRESSES_PROVIDER: "0x0542975c",
  POOL_REVISION: "0x0148170e",
  getReservesList: "0xd1946dbc",
  getReserveData: "0x35ea6a75",
  getVirtualUnderlyingBalance: "0x6fb07f96",
  // Of tokens.
  scaledTotalSupply: "0xb1bf962d",
  getSupplyData: "0x79774338",
  balanceOf: "0x70a08231",
  // Of AaveOracle.
  BASE_CURRENCY: "0xe19f4700",
  BASE_CURRENCY_UNIT: "0x8c89b64f",
  getAssetPrice: "0xb3596f07",
} as const satisfies Record<string, Hex>;

type FunctionName = keyof typeof SELECTORS;

export const ZERO_ADDRESS: Hex = `0x${"0".repeat(40)}`;

/** One contract at the reader's block. */
export interface Contract {
  /** Null where it reverts. */
  ask(name: FunctionName, ...args: Hex[]): Promise<Hex | null>;
  /** Rejects with UnreadableUnit where it reverts. */
  must(name: FunctionName, ...args: Hex[]): Promise<Hex>;
}

export function contractAt(reader: UnitReader, address: Hex): Contract {
  const ask = (name: FunctionName, args: Hex[]) => reader.call(address, encodeCall(SELECTORS[name], args));
  return {
    ask: (name, ...args) => ask(name, args),
    async must(name, ...args) {
      const answer = await ask(name, args);
      if (answer === null) throw new UnreadableUnit(`${name} of ${address} does not answer`);
      return answer;
    },
  };
}
