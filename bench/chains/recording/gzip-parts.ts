/**
 * A gzip body out of parts that were packed one by one: any of them in a row make a whole one, and no byte of them is
 * touched for it. Each part ends at a full byte, and refers to nothing before it.
 */
import { constants, crc32, deflateRawSync } from "node:zlib";

export interface GzipPart {
  readonly packed: Buffer;
  /** Bytes unpacked. */
  readonly size: number;
  /** Of the unpacked bytes. */
  readonly crc: number;
}

/** No name, no time, the fastest level, Unix. */
export const GZIP_HEAD: Buffer = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 3]);
/** An empty last block. */
const LAST_BLOCK = Buffer.from([3, 0]);
/** CRC-32's, its lowest power in the highest bit. */
const POLYNOMIAL = 0xedb88320;
const ONE = 0x80000000;

export function packPart(bytes: Buffer): GzipPart {
  const packed = deflateRawSync(bytes, { level: 1, finishFlush: constants.Z_FULL_FLUSH });
  return { packed, size: bytes.length, crc: crc32(bytes) };
}

/** What ends a body of these parts. */
export function gzipTail(parts: Iterable<Pick<GzipPart, "size" | "crc">>): Buffer {
  let [size, crc] = [0, 0];
  for (const part of parts) {
    crc = joinCrcs(crc, part);
    size += part.size;
  }
  const sums = Buffer.alloc(8);
  sums.writeUInt32LE(crc, 0);
  sums.writeUInt32LE(size % 2 ** 32, 4);
  return Buffer.concat([LAST_BLOCK, sums]);
}

/** The CRC-32 of bytes of that CRC-32 and then the part: a CRC is a remainder, so what follows shifts it. */
export function joinCrcs(crc: number, { size, crc: next }: Pick<GzipPart, "size" | "crc">): number {
  return (multiply(crc, powerOfX(8 * size)) ^ next) >>> 0;
}

/** x to the power of 2^n, modulo the polynomial; its order divides 2^32 - 1, as 2^32 bits lead round to the start. */
const SQUARES: readonly number[] = (() => {
  const squares = [ONE >>> 1];
  for (let n = 1; n < 40; n++) squares.push(multiply(squares[n - 1] as number, squares[n - 1] as number));
  return squares;
})();

function powerOfX(exponent: number): number {
  let power = ONE;
  for (let [rest, n] = [exponent, 0]; rest > 0; rest = Math.floor(rest / 2), n++)
    if (rest % 2 === 1) power = multiply(power, SQUARES[n] as number);
  return power;
}

/** The product of two polynomials over the field of two elements, modulo CRC-32's. */
function multiply(a: number, b: number): number {
  let product = 0;
  let shifted = b;
  for (let bit = 31; bit >= 0; bit--) {
    if ((a >>> bit) & 1) product ^= shifted;
    shifted = shifted & 1 ? (shifted >>> 1) ^ POLYNOMIAL : shifted >>> 1;
  }
  return product >>> 0;
}
