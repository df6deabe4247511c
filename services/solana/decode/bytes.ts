/** Little-endian numbers of instruction data and events. Reading past the end throws a RangeError. */

export function readU32(data: Uint8Array, at: number): number {
  if (at + 4 > data.length)
    throw new RangeError(`A u32 at byte ${at} is beyond ${data.length} bytes of data.`);
  const low = (data[at] as number) | ((data[at + 1] as number) << 8) | ((data[at + 2] as number) << 16);
  return (low | ((data[at + 3] as number) << 24)) >>> 0;
}

export function readU64(data: Uint8Array, at: number): bigint {
  const low = readU32(data, at);
  const high = readU32(data, at + 4);
  // One BigInt of a number is cheaper than two and a shift, and exact below 2^53.
  return high < 2 ** 21 ? BigInt(high * 2 ** 32 + low) : (BigInt(high) << 32n) | BigInt(low);
}

/** True if `data` holds the expected bytes at `at`. */
export function hasBytes(data: Uint8Array, at: number, expected: Uint8Array): boolean {
  if (at + expected.length > data.length) return false;
  for (let i = 0; i < expected.length; i++) if (data[at + i] !== expected[i]) return false;
  return true;
}

export function fromHex(hex: string): Uint8Array {
  if (!/^(?:[0-9a-f]{2})+$/.test(hex)) throw new Error(`"${hex}" is not lower-case hex of whole bytes.`);
  return Uint8Array.from({ length: hex.length / 2 }, (_, i) =>
    Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16),
  );
}
