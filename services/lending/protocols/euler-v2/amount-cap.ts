/**
 * What an Euler AmountCap (uint16) stands for, raw; null = no cap. The low 6 bits are a decimal exponent, the high 10 a
 * mantissa in hundredths; an amount of zero has a mantissa of zero and some exponent. Source: Euler Vault Kit, AmountCap.
 */
export function decodeAmountCap(raw: number): bigint | null {
  if (!Number.isInteger(raw) || raw < 0 || raw > 0xffff)
    throw new RangeError(`Cannot read cap ${raw}: it is not a uint16`);
  return raw === 0 ? null : (10n ** BigInt(raw & 63) * BigInt(raw >> 6)) / 100n;
}
