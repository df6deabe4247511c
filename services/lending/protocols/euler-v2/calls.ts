import { encodeCall, readAddress, readInt, readUint } from "../../../shared/evm/abi.ts";
import type { Hex } from "../../../shared/evm/port.ts";
import { type UnitReader, UnreadableUnit } from "../protocol.ts";

/** Selectors of the getters that are called; `calls.test.ts` holds them against their signatures. */
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
  "getQuote(uint256,address,address)": "0xae68676c",
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
} as const satisfies Record<string, Hex>;

export type Getter = keyof typeof SELECTORS;
type Arguments = readonly (Hex | bigint | number)[];

/** One contract at the reader's block. Every question but `ask` must be answered: UnreadableUnit where it is not. */
export interface Contract {
  /** Null where the call reverted. */
  ask(getter: Getter, args?: Arguments): Promise<Hex | null>;
  /** What `decode` makes of the returned data; a RangeError of it means that the answer is no such thing. */
  read<T>(getter: Getter, decode: (data: Hex) => T, args?: Arguments): Promise<T>;
  uint(getter: Getter, args?: Arguments): Promise<bigint>;
  address(getter: Getter, args?: Arguments): Promise<Hex>;
  addresses(getter: Getter, args?: Arguments): Promise<Hex[]>;
  /** How many there are of something that is then asked for one by one: at most `most`. */
  count(getter: Getter, most: number): Promise<number>;
}

export function contractAt(reader: UnitReader, address: string): Contract {
  const ask: Contract["ask"] = (getter, args) =>
    reader.call(address as Hex, encodeCall(SELECTORS[getter], args));
  const read: Contract["read"] = async (getter, decode, args) => {
    const data = await ask(getter, args);
    if (data === null) throw new UnreadableUnit(`Cannot read ${address}: ${getter} gave no answer`);
    try {
      return decode(data);
    } catch (cause) {
      if (!(cause instanceof RangeError)) throw cause;
      throw new UnreadableUnit(`Cannot read ${address}: ${getter} gave ${data.slice(0, 80)}`, { cause });
    }
  };
  return {
    ask,
    read,
    uint: (getter, args) => read(getter, (data) => readUint(data, 0), args),
    address: (getter, args) => read(getter, (data) => readAddress(data, 0), args),
    addresses: (getter, args) => read(getter, decodeAddresses, args),
    count: (getter, most) =>
      read(getter, (data) => {
        const count = readInt(data, 0);
        if (count < 0 || count > most) throw new RangeError(`Cannot count to ${count}: it is above ${most}`);
        return count;
      }),
  };
}

/** The ABI's address[] as the only value returned. */
function decodeAddresses(data: Hex): Hex[] {
  const length = readInt(data, 1);
  if (readInt(data, 0) !== 32 || data.length < 2 + 64 * (2 + length))
    throw new RangeError("Cannot read addresses: the data is shorter than the list");
  return Array.from({ length }, (_, i) => readAddress(data, 2 + i));
}
