/** A raw amount in whole tokens: the nearest float. */
export function toWhole(raw: bigint, decimals: number): number {
  return Number(`${raw}e-${decimals}`);
}
