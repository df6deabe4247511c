const view = new DataView(new ArrayBuffer(8));
/** Keeps sign, exponent and three binary digits. */
const MASK = 0xfffe0000;

/**
 * A depth rounded down to three binary digits, 12.5 % at most: depth is a magnitude, and one that changes with every
 * trade would write a row for every trade. The same bits on every machine.
 */
export function roundDepth(usd: number): number {
  if (!Number.isFinite(usd) || usd <= 0) return usd;
  view.setFloat64(0, usd);
  view.setUint32(0, view.getUint32(0) & MASK);
  view.setUint32(4, 0);
  return view.getFloat64(0);
}
