import { encodeCall, readAddress, readInt, readUint } from "../../../shared/evm/abi.ts";
import type { Hex } from "../../../shared/evm/port.ts";
import { type ContractReader, UnreadableEntity } from "../protocol.ts";

/** Selectors of the getters that are called; `protocol.test.ts` compares them with their signatures. */
export const SELECTORS = {
  "getProxyListLength()": "0x0a68b7ba",
  "getProxyListSlice(uint256,uint256)": "0xc0e96df6",
  "asset()": "0x38d52e0f",
  "name()": "0x06fdde03",
  "symbol()": "0x95d89b41",
  "totalSupply()": "0x18160ddd",
  "cash()": "0x961be391",
  "totalBorrowsExact()": "0xe388be7b",
  "accumulatedFees()": "0x587f5ed7",
  "interestAccumulator()": "0x087a6007",
  "interestRate()": "0x7c3a00fd",
  "interestFee()": "0xa75df498",
  "interestRateModel()": "0xf3fdb15a",
  "oracle()": "0x7dc0d1d0",
  "unitOfAccount()": "0x3e833364",
  "dToken()": "0xd9d7858a",
  "governorAdmin()": "0x6ce98c29",
  "configFlags()": "0x2b38a367",
  "caps()": "0x18e22d98",
  "hookConfig()": "0xcf349b7d",
  "LTVList()": "0x6a16ef84",
  "LTVFull(address)": "0x33708d0c",
  "creator()": "0x02d05d3f",
  "verifiedArray()": "0x8d5e21d3",
  "owner()": "0x8da5cb5b",
  "curator()": "0xe66f53b7",
  "timelock()": "0xd33219b4",
  "fee()": "0xddca3f43",
  "feeRecipient()": "0x46904840",
  "lastTotalAssets()": "0x568efc07",
  "lostAssets()": "0x21cb4b14",
  "config(address)": "0x0e68ec95",
  "supplyQueue(uint256)": "0xf7d18521",
  "supplyQueueLength()": "0xa17b3130",
  "withdrawQueue(uint256)": "0x62518ddf",
  "withdrawQueueLength()": "0x33f91ebb",
  "previewRedeem(uint256)": "0x4cdad506",
  "maxWithdraw(address)": "0xce96cb77",
  "maxDeposit(address)": "0x402d267d",
  "balanceOf(address)": "0x70a08231",
  "totalAssetsDeposited()": "0x6c63c2da",
  "getEulerEarnSavingRate()": "0xbeb9c69b",
  "performanceFeeConfig()": "0x3eda8287",
  "getHooksConfig()": "0xe6f2aae5",
  "getRoleMembers(bytes32)": "0xa3246ad3",
  "withdrawalQueue()": "0x37d5fe99",
  "getStrategy(address)": "0xf8806a13",
  "EVC()": "0xa70354a1",
  "deposit(uint256,address)": "0x6e553f65",
  "withdraw(uint256,address,address)": "0xb460af94",
} as const satisfies Record<string, Hex>;

export type Getter = keyof typeof SELECTORS;
type Arguments = readonly (Hex | bigint | number)[];

/** One contract at the reader's block. Every method but `tryCall` rejects with UnreadableEntity where the call reverts. */
export interface Contract {
  /** Return data; null where the call reverts. */
  tryCall(getter: Getter, args?: Arguments): Promise<Hex | null>;
  /** The decoded return data; a RangeError of `decode` becomes an UnreadableEntity. */
  read<T>(getter: Getter, decode: (data: Hex) => T, args?: Arguments): Promise<T>;
  uint(getter: Getter, args?: Arguments): Promise<bigint>;
  address(getter: Getter, args?: Arguments): Promise<Hex>;
  addresses(getter: Getter, args?: Arguments): Promise<Hex[]>;
  /** The length of a list whose items are then called for one by one: at most `max`. */
  count(getter: Getter, max: number): Promise<number>;
}

export function contractAt(reader: ContractReader, address: string): Contract {
  const tryCall: Contract["tryCall"] = (getter, args) =>
    reader.call(address as Hex, encodeCall(SELECTORS[getter], args));
  const read: Contract["read"] = async (getter, decode, args) => {
    const data = await tryCall(getter, args);
    if (data === null) throw new UnreadableEntity(`Cannot read ${address}: ${getter} reverts`);
    try {
      return decode(data);
    } catch (cause) {
      if (!(cause instanceof RangeError)) throw cause;
      throw new UnreadableEntity(`Cannot read ${address}: ${getter} returned ${data.slice(0, 80)}`, {
        cause,
      });
    }
  };
  return {
    tryCall,
    read,
    uint: (getter, args) => read(getter, (data) => readUint(data, 0), args),
    address: (getter, args) => read(getter, (data) => readAddress(data, 0), args),
    addresses: (getter, args) => read(getter, decodeAddresses, args),
    count: (getter, max) =>
      read(getter, (data) => {
        const count = readInt(data, 0);
        if (count < 0 || count > max) throw new RangeError(`Cannot read ${count} items: it is above ${max}`);
        return count;
      }),
  };
}

/** Decodes an address[] that is the only returned value. */
function decodeAddresses(data: Hex): Hex[] {
  const length = readInt(data, 1);
  if (readInt(data, 0) !== 32 || data.length < 2 + 64 * (2 + length))
    throw new RangeError("Cannot read addresses: the data is shorter than the list");
  return Array.from({ length }, (_, i) => readAddress(data, 2 + i));
}
