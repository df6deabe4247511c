/** More tokens than a block can show for the first time: each takes an account of one of its transactions. */
const NUMBERS_IN_SLOT = 65_536;

/** The number of a token by the slot that shows it for the first time, and its place among those: a function of the chain. */
export function toTokenNumber(slot: number, place: number): number {
  if (place >= NUMBERS_IN_SLOT) throw new RangeError(`Slot ${slot} shows more than ${place} new tokens.`);
  return slot * NUMBERS_IN_SLOT + place;
}

/** 22 digits of base 58 are 128 bits. */
const ID_LENGTH = 22;

/**
 * What a token account is called within its wallet. Whoever finds two accounts of the same name could hide what one of
 * them holds: that takes 2^64 attempts.
 */
export function toAccountId(address: string): string {
  return address.slice(0, ID_LENGTH);
}
