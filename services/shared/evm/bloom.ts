import { keccak_256 } from "@noble/hashes/sha3.js";
import type { BlockHeader, Hex, LogFilter, RawLog } from "./port.ts";

/**
 * The three bits that an item sets, each counted from the right end of the bloom, as digits of one number to the base 2048:
 * those of 20,000 items are kept.
 */
export type BloomBits = number;

const BLOOM_BITS = 2_048;
const BLOOM_DIGITS = BLOOM_BITS / 4;
/** Of the digits of BloomBits. */
const PLACES = [1, BLOOM_BITS, BLOOM_BITS ** 2] as const;

/**
 * Whether a block with this header bloom may hold a log with this address or topic. False is certain, true is not.
 * Source: Ethereum yellow paper, section 4.3.1 (the function M3:2048).
 */
export function bloomMayContain(bloom: Hex, item: Hex): boolean {
  return hasBits(bloom, bloomBits(item));
}

/** Whether the bloom may hold at least one of the items; the bit positions are computed once. */
export function bloomMatcher(items: readonly Hex[]): (bloom: Hex) => boolean {
  const bits = items.map(bloomBits);
  return (bloom) => bits.some((each) => hasBits(bloom, each));
}

/**
 * Expected false positives among `count` items that a bloom does not hold: count × (share of bits set)³. Around one
 * and above, the bloom cannot rule out that many items.
 */
export function expectedFalsePositives(bloom: Hex, count: number): number {
  return count * falseRate(bloom);
}

/**
 * Probability that findSuspectBlocks suspects a block with this bloom though it has no log of the filter: one of the
 * topics and, if the filter names addresses, one of those match by chance, each item with (share of bits set)³.
 */
export function expectedFalseRate(bloom: Hex, { topics, addresses }: LogFilter): number {
  const rate = falseRate(bloom);
  const anyOf = (items: readonly Hex[]) => 1 - (1 - rate) ** items.length;
  return (topics.length === 0 ? 1 : anyOf(topics)) * (addresses === undefined ? 1 : anyOf(addresses));
}

/** Probability that a bloom matches an item that it does not hold: (share of bits set)³. */
function falseRate(bloom: Hex): number {
  let bits = 0;
  for (let i = 2; i < bloom.length; i++) bits += BITS[digitValue(bloom.charCodeAt(i))] as number;
  return (bits / 2048) ** 3;
}

/** Bits set in a hex digit. */
const BITS = [0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4] as const;

/** The bloom of a block's logs, as its header states it: addresses and all topics of all logs. */
export function computeLogsBloom(logs: readonly Pick<RawLog, "address" | "topics">[]): Hex {
  const digits = new Uint8Array(BLOOM_DIGITS);
  for (const item of new Set(logs.flatMap((log) => [log.address, ...log.topics]))) {
    const bits = bloomBits(item);
    for (const place of PLACES) {
      const bit = bitAt(bits, place);
      const digit = digitOf(bit);
      digits[digit] = (digits[digit] as number) | maskOf(bit);
    }
  }
  let text = "";
  for (const digit of digits) text += digit.toString(16);
  return `0x${text}`;
}

/**
 * Numbers of the blocks whose bloom may hold a log of the filter (one of its topics and, if it names addresses, one
 * of those) while `logs` has none of that block. Only a suspicion: a nearly full bloom (busy blocks) matches nearly
 * everything. Does not find a block that lacks only some of its logs.
 */
export function findSuspectBlocks(
  headers: readonly BlockHeader[],
  logs: readonly RawLog[],
  filter: LogFilter,
): number[] {
  const present = new Set(logs.map((log) => log.blockNumber));
  const holdsTopic = filter.topics.length === 0 ? isNotEmpty : bloomMatcher(filter.topics);
  const holdsAddress = filter.addresses === undefined ? () => true : bloomMatcher(filter.addresses);
  return headers
    .filter(
      ({ number, logsBloom }) => !present.has(number) && holdsTopic(logsBloom) && holdsAddress(logsBloom),
    )
    .map((header) => header.number);
}

function isNotEmpty(bloom: Hex): boolean {
  return /[1-9a-f]/.test(bloom.slice(2));
}

/** As bloomMayContain, for an item whose bits are known. */
export function hasBits(bloom: Hex, bits: BloomBits): boolean {
  for (const place of PLACES) {
    const bit = bitAt(bits, place);
    if ((digitValue(bloom.charCodeAt(2 + digitOf(bit))) & maskOf(bit)) === 0) return false;
  }
  return true;
}

/** The three pairs of bytes of the item's hash, modulo 2048. */
export function bloomBits(item: Hex): BloomBits {
  const hash = keccak_256(hexToBytes(item));
  const pairAt = (at: number) => (((hash[at] as number) << 8) | (hash[at + 1] as number)) % BLOOM_BITS;
  return PLACES.reduce((sum, place, n) => sum + pairAt(2 * n) * place, 0);
}

function bitAt(bits: BloomBits, place: number): number {
  return Math.floor(bits / place) % BLOOM_BITS;
}

/** The hex digit of the bloom (after 0x) that holds a bit. */
function digitOf(bit: number): number {
  return BLOOM_DIGITS - 1 - (bit >> 2);
}

/** The bit within its digit; the four bits of a digit have the lowest places of the bit's number. */
function maskOf(bit: number): number {
  return 1 << (bit & 3);
}

function hexToBytes(hex: Hex): Uint8Array {
  const bytes = new Uint8Array((hex.length - 2) / 2);
  for (let i = 0; i < bytes.length; i++) {
    bytes[i] = (digitValue(hex.charCodeAt(2 + i * 2)) << 4) | digitValue(hex.charCodeAt(3 + i * 2));
  }
  return bytes;
}

/** '0'-'9', 'a'-'f' and 'A'-'F' by character code. */
function digitValue(code: number): number {
  return code < 58 ? code - 48 : (code | 32) - 87;
}
