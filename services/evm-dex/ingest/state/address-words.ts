/** Addresses as five words of 32 bits, the first one first: 20 bytes outside of the heap in place of a string of some 60. */
import { Buffer } from "node:buffer";
import { hexDigit } from "../../../shared/hex-digits.ts";

export const ADDRESS_WORDS = 5;
const DIGITS = "0123456789abcdef";
/** The address that is written. */
const text = Buffer.from(`0x${"0".repeat(8 * ADDRESS_WORDS)}`, "latin1");

/** Whether the text is an address in lower case; its words go to `into`, from a place on. */
export function readAddress(address: string, into: Uint32Array, from = 0): boolean {
  if (address.length !== 42 || address.charCodeAt(0) !== 48 || address.charCodeAt(1) !== 120) return false;
  let seen = 0;
  for (let word = 0, at = 2; word < ADDRESS_WORDS; word++) {
    let value = 0;
    for (const end = at + 8; at < end; at++) {
      const digit = hexDigit(address.charCodeAt(at));
      seen |= digit;
      value = (value << 4) | digit;
    }
    into[from + word] = value;
  }
  return seen < 16;
}

/** The address whose words begin at a place. */
export function writeAddress(words: Uint32Array, from: number): string {
  for (let i = 0, at = 2; i < ADDRESS_WORDS; i++) {
    const word = words[from + i] as number;
    for (let shift = 28; shift >= 0; shift -= 4) text[at++] = DIGITS.charCodeAt((word >>> shift) & 15);
  }
  return text.toString("latin1");
}

/** Of `count` words from a place on. Where others choose them, the seed is one that they do not know. */
export function hashWords(seed: number, words: Uint32Array, from: number, count: number): number {
  let hash = seed;
  for (let i = from; i < from + count; i++) {
    hash = Math.imul(hash ^ (words[i] as number), 0x85ebca6b);
    hash ^= hash >>> 13;
  }
  hash = Math.imul(hash, 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
