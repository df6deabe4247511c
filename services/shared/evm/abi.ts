import type { Hex } from "./port.ts";

/**
 * Word readers for hand-written decoders: `data` is 0x and whole 32-byte words in lower-case hex; the index of a word
 * names it. Every reader throws RangeError for a missing word, the small ones also for a value that does not fit: a
 * malformed log gives an error, never a wrong number. `abi.bench.ts`, per second of one core of the 2-core machine,
 * Node 20: the seven words of a PancakeSwap Swap 591,000 times, viem's decodeAbiParameters 65,000 (ratio 9);
 * eth_getLogs responses parsed and checked 308,000 logs, half of that time in JSON.parse.
 */
const WORD_DIGITS = 64;
const ZEROS = "0".repeat(56);
const ONES = "f".repeat(56);
const TWO_256 = 1n << 256n;

function wordAt(data: string, word: number): string {
  const start = 2 + word * WORD_DIGITS;
  if (data.length < start + WORD_DIGITS)
    throw new RangeError(`Cannot read word ${word}: data has ${(data.length - 2) / WORD_DIGITS}`);
  return data.slice(start, start + WORD_DIGITS);
}

/** An unsigned word, exact. */
export function readUint(data: Hex, word: number): bigint {
  return BigInt(`0x${wordAt(data, word)}`);
}

/** A two's complement word (intN of any N, sign-extended as the ABI does), exact. */
export function readSigned(data: Hex, word: number): bigint {
  const text = wordAt(data, word);
  const value = BigInt(`0x${text}`);
  return text.charCodeAt(0) >= 56 ? value - TWO_256 : value;
}

/** A word, signed or not, as a number: ticks, fees, decimals, timestamps; RangeError beyond 2^53. */
export function readInt(data: Hex, word: number): number {
  return toSmall(wordAt(data, word));
}

/** A bool word: anything but zero is true. */
export function readBool(data: Hex, word: number): boolean {
  return wordAt(data, word) !== "0".repeat(WORD_DIGITS);
}

/** The address in a word of the data. */
export function readAddress(data: Hex, word: number): Hex {
  return `0x${wordAt(data, word).slice(24)}`;
}

/** A whole word: bytes32, hashes, market ids. */
export function readBytes32(data: Hex, word: number): Hex {
  return `0x${wordAt(data, word)}`;
}

/** The address in an indexed topic. */
export function readTopicAddress(topic: Hex | undefined): Hex {
  return `0x${topicWord(topic).slice(24)}`;
}

/** An indexed integer, signed or not, as a number; RangeError beyond 2^53. */
export function readTopicInt(topic: Hex | undefined): number {
  return toSmall(topicWord(topic));
}

function topicWord(topic: Hex | undefined): string {
  if (topic === undefined || topic.length !== WORD_DIGITS + 2)
    throw new RangeError("Cannot read topic: it is not there");
  return topic.slice(2);
}

function toSmall(text: string): number {
  // Nearly all values fit into 32 bits: two comparisons of prefixes are much cheaper than a bigint.
  if (text.startsWith(ZEROS)) return Number.parseInt(text.slice(56), 16);
  if (text.startsWith(ONES) && text.charCodeAt(56) >= 56) return Number.parseInt(text.slice(56), 16) | 0;
  const value = BigInt.asIntN(256, BigInt(`0x${text}`));
  const small = Number(value);
  if (!Number.isSafeInteger(small))
    throw new RangeError(`Cannot read ${value} as a number: it is above 2^53`);
  return small;
}

/** Call data of a function with static arguments: a 4-byte selector, then addresses (20 bytes) or integers. */
export function encodeCall(selector: Hex, args: readonly (Hex | bigint | number | boolean)[] = []): Hex {
  if (selector.length !== 10)
    throw new RangeError(`Cannot encode call: ${selector} is not a 4-byte selector`);
  let text: string = selector;
  for (const arg of args) text += encodeWord(arg);
  return text as Hex;
}

function encodeWord(arg: Hex | bigint | number | boolean): string {
  if (typeof arg === "string") {
    const digits = arg.slice(2).toLowerCase();
    // 20 bytes are an address, 32 a bytes32; padding of anything between would be ambiguous.
    if (digits.length !== 40 && digits.length !== WORD_DIGITS)
      throw new RangeError(`Cannot encode ${arg}: neither 20 nor 32 bytes`);
    return digits.padStart(WORD_DIGITS, "0");
  }
  return BigInt.asUintN(256, BigInt(arg)).toString(16).padStart(WORD_DIGITS, "0");
}

/** Longest text read from a contract, in characters. */
const MAX_TEXT = 64;

/**
 * The text a contract returned for symbol() or name(): an ABI string, or the bytes32 of old tokens (MKR). Invalid
 * UTF-8 is replaced, control and invisible formatting characters are dropped, long texts are cut at 64 characters;
 * null where the bytes are neither form or nothing readable is left.
 */
export function decodeText(returned: Hex | null): string | null {
  if (returned === null) return null;
  const bytes = textBytes(returned);
  if (bytes === null) return null;
  const text = new TextDecoder()
    .decode(bytes)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}]/gu, "")
    .trim();
  const cut = Array.from(text.replaceAll("\ufffd", "").trim() === "" ? "" : text)
    .slice(0, MAX_TEXT)
    .join("");
  return cut === "" ? null : cut;
}

const MAX_DECIMALS = 255;

/** The decimals() a contract returned; 0 where they are not from 0 to 255. */
export function decodeDecimals(returned: Hex | null): number {
  if (returned === null || returned.length < 2 + WORD_DIGITS) return 0;
  try {
    const decimals = readInt(returned, 0);
    return decimals >= 0 && decimals <= MAX_DECIMALS ? decimals : 0;
  } catch (error) {
    if (error instanceof RangeError) return 0;
    throw error;
  }
}

function textBytes(returned: Hex): Uint8Array | null {
  const bytes = toBytes(returned, MAX_TEXT * 8 + 64);
  if (bytes.length >= 64 && readOffset(returned) === 32) {
    const length = readLength(returned);
    // A length beyond the data is garbage.
    return length === undefined || 64 + length > (returned.length - 2) / 2
      ? null
      : bytes.slice(64, 64 + length);
  }
  if (returned.length !== 2 + WORD_DIGITS) return null;
  const end = bytes.indexOf(0);
  return end === -1 ? bytes : bytes.slice(0, end);
}

function readOffset(returned: Hex): number | undefined {
  const text = returned.slice(2, 2 + WORD_DIGITS);
  return text.startsWith(ZEROS) ? Number.parseInt(text.slice(56), 16) : undefined;
}

function readLength(returned: Hex): number | undefined {
  const text = returned.slice(2 + WORD_DIGITS, 2 + 2 * WORD_DIGITS);
  return text.startsWith(ZEROS) ? Number.parseInt(text.slice(56), 16) : undefined;
}

function toBytes(hex: Hex, most: number): Uint8Array {
  const length = Math.min(Math.floor((hex.length - 2) / 2), most);
  return Uint8Array.from({ length }, (_, i) => Number.parseInt(hex.slice(2 + i * 2, 4 + i * 2), 16));
}
