import type { Hex } from "../port.ts";

/** What RLP encodes: bytes, or a list of such. Source: Ethereum yellow paper, appendix B. */
export type RlpItem = Uint8Array | readonly RlpItem[];

/** Bytes up to this length have their length in the first byte. */
const SHORT = 55;
const BYTES_OFFSET = 0x80;
const LIST_OFFSET = 0xc0;

export function encodeRlp(item: RlpItem): Uint8Array {
  if (item instanceof Uint8Array) {
    const isOwnCode = item.length === 1 && (item[0] as number) < BYTES_OFFSET;
    return isOwnCode ? item : join([lengthPrefix(item.length, BYTES_OFFSET), item]);
  }
  const parts = item.map(encodeRlp);
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return join([lengthPrefix(length, LIST_OFFSET), ...parts]);
}

/** A number as RLP wants it: big-endian without leading zeros, nothing for 0. */
export function quantityBytes(value: bigint | number): Uint8Array {
  const digits = value.toString(16);
  if (digits === "0") return new Uint8Array(0);
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, "hex");
}

/** The bytes of hex that was checked before. */
export function hexBytes(hex: Hex): Uint8Array {
  return Buffer.from(hex.slice(2), "hex");
}

export function toHex(bytes: Uint8Array): Hex {
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("hex")}`;
}

function lengthPrefix(length: number, offset: number): Uint8Array {
  if (length <= SHORT) return Uint8Array.of(offset + length);
  const size = quantityBytes(length);
  return Uint8Array.of(offset + SHORT + size.length, ...size);
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(parts);
}
