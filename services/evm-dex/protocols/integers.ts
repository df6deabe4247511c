/**
 * Signed integers of any size as hexadecimal text, in which states and amounts are stored. Compact, and several times
 * faster to read and write than decimals.
 */
export function writeIntegers(values: readonly (bigint | number)[]): string {
  let text = "";
  for (const value of values) text += text === "" ? value.toString(16) : ` ${value.toString(16)}`;
  return text;
}

export function readIntegers(text: string): bigint[] {
  return text.split(" ").map((part) => readInteger(part));
}

/** One of them; 0 where it is absent. */
export function readInteger(part = "0"): bigint {
  return part.startsWith("-") ? -BigInt(`0x${part.slice(1)}`) : BigInt(`0x${part}`);
}

/** Hexadecimal digits that a float surely holds: 52 bits. */
const EXACT_DIGITS = 13;
/** Powers of 16, each exact. */
const POWERS = new Float64Array(64);
POWERS[0] = 1;
for (let i = 1; i < POWERS.length; i++) POWERS[i] = 16 * (POWERS[i - 1] as number);

/**
 * The first integers of such a text as floats, each the same as Number(bigint): without the integers between, which take
 * ten times as long. Those that are absent are 0.
 */
export function readFloats(text: string, into: Float64Array): void {
  let at = 0;
  for (let i = 0; i < into.length; i++) {
    const isNegative = text.charCodeAt(at) === 45;
    if (isNegative) at += 1;
    let [high, low, digits] = [0, 0, 0];
    let isMore = false;
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === 32) break;
      const digit = code > 57 ? code - 87 : code - 48;
      if (digits < EXACT_DIGITS) high = 16 * high + digit;
      else if (digits < 2 * EXACT_DIGITS) low = 16 * low + digit;
      else if (digit !== 0) isMore = true;
      digits += 1;
    }
    at += 1;
    const value = joinDigits(high, { low, digits, isMore });
    into[i] = isNegative ? -value : value;
  }
}

/** One addition of two exact numbers rounds once. What is beyond them decides a tie, for which the last bit stands. */
function joinDigits(
  high: number,
  { low, digits, isMore }: { low: number; digits: number; isMore: boolean },
): number {
  if (digits <= EXACT_DIGITS) return high;
  const beyond = Math.max(0, digits - 2 * EXACT_DIGITS);
  const odd = isMore && low % 2 === 0 ? low + 1 : low;
  return high * (POWERS[digits - EXACT_DIGITS] as number) + odd * (POWERS[beyond] as number);
}

/** Named integers as one text, in the order of the names. Throws when it reads another number of them. */
export function namedIntegers<const N extends string>(
  names: readonly N[],
): { write(values: Readonly<Record<N, bigint>>): string; read(text: string): Record<N, bigint> } {
  return {
    write: (values) => writeIntegers(names.map((name) => values[name])),
    read(text) {
      const values = readIntegers(text);
      if (values.length !== names.length) throw new Error(`Cannot read ${names.join(", ")} from "${text}".`);
      return Object.fromEntries(names.map((name, i) => [name, values[i]])) as Record<N, bigint>;
    },
  };
}
