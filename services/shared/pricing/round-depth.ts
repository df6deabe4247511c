const float = new Float64Array(1);
const words = new Uint32Array(float.buffer);
/** Where the sign, the exponent and the first digits are. */
const HIGH = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1 ? 1 : 0;
/** Keeps sign, exponent and three binary digits. */
const MASK = 0xfffe0000;

/**
 * A depth rounded down to three binary digits, 12.5 % at most: depth is a magnitude, and one that changes with every
 * trade would write a row for every trade. The same bits on every machine.
 */
export function roundDepth(usd: number): number {
  if (!Number.isFinite(usd) || usd <= 0) return usd;
  float[0] = usd;
  words[HIGH] = (words[HIGH] as number) & MASK;
  words[1 - HIGH] = 0;
  return float[0] as number;
}
