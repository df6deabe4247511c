import { readU32, readU64 } from "../../decode/bytes.ts";
import type { MintExtensions } from "../../metrics/mint-extensions.ts";
import { readKey, readU16 } from "./account-bytes.ts";

interface Reader {
  /** Least length of the value; shorter ones are left out. */
  readonly bytes: number;
  read(data: Uint8Array): MintExtensions;
}

/** By the extension's type (SPL Token-2022's `ExtensionType`). */
const READERS: Readonly<Record<number, Reader>> = {
  // TransferFeeConfig: two authorities, what was withheld; epoch, most and basis points of the older and the newer fee.
  1: {
    bytes: 108,
    read: (data) => ({
      transferFee: {
        olderBps: readU16(data, 88),
        newerBps: readU16(data, 106),
        // "Never" is an epoch too.
        newerEpoch: Math.min(Number(readU64(data, 90)), Number.MAX_SAFE_INTEGER),
      },
    }),
  },
  // MintCloseAuthority.
  3: { bytes: 32, read: (data) => withKey("closeAuthority", readOptionalKey(data, 0)) },
  // ConfidentialTransferMint: authority, whether accounts are approved at once, auditor.
  4: { bytes: 65, read: () => ({ confidentialTransfers: true }) },
  // DefaultAccountState: 1 = initialized, 2 = frozen.
  6: { bytes: 1, read: (data) => (data[0] === 2 ? { isFrozenByDefault: true } : {}) },
  9: { bytes: 0, read: () => ({ nonTransferable: true }) },
  // InterestBearingConfig: authority, start, average rate until the last change, its time, rate since then.
  10: {
    bytes: 52,
    read: (data) => ({
      interest: {
        startTime: readI64(data, 32),
        averageBps: readI16(data, 40),
        updateTime: readI64(data, 42),
        currentBps: readI16(data, 50),
      },
    }),
  },
  12: { bytes: 32, read: (data) => withKey("permanentDelegate", readOptionalKey(data, 0)) },
  // TransferHook: authority, program.
  14: {
    bytes: 64,
    read(data) {
      const [authority, program] = [readOptionalKey(data, 0), readOptionalKey(data, 32)];
      return authority === null && program === null ? {} : { transferHook: { program, authority } };
    },
  },
  // ScaledUiAmountConfig: authority, multiplier, when the next one begins, the next one.
  25: {
    bytes: 56,
    read(data) {
      const [older, newer] = [readF64(data, 32), readF64(data, 48)];
      if (!isMultiplier(older) || !isMultiplier(newer)) return {};
      return { scaledAmount: { older, newer, newerTime: readI64(data, 40) } };
    },
  },
  // PausableConfig: authority, whether it is paused.
  26: {
    bytes: 33,
    read(data) {
      const [authority, isPaused] = [readOptionalKey(data, 0), data[32] === 1];
      return authority === null && !isPaused ? {} : { pausable: { authority, isPaused } };
    },
  },
};

/** What the extensions of a mint allow. Types that say nothing about its holders' tokens are passed. */
export function readMintExtensions(extensions: ReadonlyMap<number, Uint8Array>): MintExtensions {
  const found: MintExtensions = {};
  for (const [type, data] of extensions) {
    const reader = READERS[type];
    if (reader !== undefined && data.length >= reader.bytes) Object.assign(found, reader.read(data));
  }
  return found;
}

function withKey(name: "closeAuthority" | "permanentDelegate", address: string | null): MintExtensions {
  return address === null ? {} : { [name]: address };
}

function isMultiplier(value: number): boolean {
  return Number.isFinite(value) && value > 0;
}

/** Zeros = nobody. */
function readOptionalKey(data: Uint8Array, at: number): string | null {
  for (let i = at; i < at + 32; i++) if (data[i] !== 0) return readKey(data, at);
  return null;
}

function readI16(data: Uint8Array, at: number): number {
  return (readU16(data, at) << 16) >> 16;
}

function readI64(data: Uint8Array, at: number): number {
  return Number(BigInt.asIntN(64, readU64(data, at)));
}

function readF64(data: Uint8Array, at: number): number {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setUint32(0, readU32(data, at), true);
  bits.setUint32(4, readU32(data, at + 4), true);
  return bits.getFloat64(0, true);
}
