/**
 * Big integers as text whose byte order is their numeric order, for engines without 256-bit numbers.
 *
 * `p` + length + hexadecimal digits for zero and above; `n` + complemented length + complemented digits below zero.
 * The length is one character (code 48 + number of digits), so a longer number sorts after a shorter one; complements
 * reverse that for negative numbers. All characters are printable ASCII.
 */
const MAX_DIGITS = 65;
const LENGTH_ZERO = 48;
const LIMIT = 1n << 256n;

/** 16^n − 1 for n digits: the complement base of a negative number's digits. */
const ALL_ONES: readonly bigint[] = Array.from(
  { length: MAX_DIGITS + 1 },
  (_, digits) => (1n << BigInt(4 * digits)) - 1n,
);
const POSITIVE_PREFIX = Array.from(
  { length: MAX_DIGITS + 1 },
  (_, digits) => `p${String.fromCharCode(LENGTH_ZERO + digits)}`,
);
const NEGATIVE_PREFIX = Array.from(
  { length: MAX_DIGITS + 1 },
  (_, digits) => `n${String.fromCharCode(LENGTH_ZERO + MAX_DIGITS - digits)}`,
);

/** @throws RangeError above 2^256 in size. */
export function encodeBigint(value: bigint): string {
  if (value >= 0n) {
    if (value > LIMIT) throw new RangeError(`Cannot encode ${value}: it is above 2^256`);
    const digits = value.toString(16);
    return POSITIVE_PREFIX[digits.length] + digits;
  }
  const size = -value;
  if (size > LIMIT) throw new RangeError(`Cannot encode ${value}: it is below -2^256`);
  const length = size.toString(16).length;
  return NEGATIVE_PREFIX[length] + ((ALL_ONES[length] as bigint) - size).toString(16).padStart(length, "0");
}

/** Inverse of {@link encodeBigint}. Other text gives a SyntaxError or a wrong number. */
export function decodeBigint(text: string): bigint {
  const digits = BigInt(`0x${text.slice(2)}`);
  return text.charCodeAt(0) === 112 ? digits : digits - (ALL_ONES[text.length - 2] as bigint);
}
