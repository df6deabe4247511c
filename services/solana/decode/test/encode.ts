/** Little-endian bytes of numbers as instructions and events have them. */

export function u8(value: unknown): number[] {
  return littleEndian(value, 1);
}

export function u16(value: unknown): number[] {
  return littleEndian(value, 2);
}

export function u32(value: unknown): number[] {
  return littleEndian(value, 4);
}

export function u64(value: unknown): number[] {
  return littleEndian(value, 8);
}

export function u128(value: unknown): number[] {
  return littleEndian(value, 16);
}

function littleEndian(value: unknown, length: number): number[] {
  const number = BigInt(value as bigint);
  if (number < 0n || number >> BigInt(8 * length) !== 0n) {
    throw new RangeError(`${number} is no unsigned number of ${length} bytes.`);
  }
  return Array.from({ length }, (_, i) => Number((number >> BigInt(8 * i)) & 0xffn));
}
