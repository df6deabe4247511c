/** Addresses, texts and numbers in the data of accounts. */
import { encodeBase58 } from "../../../shared/contract/base58.ts";
import { readU32 } from "../../decode/bytes.ts";

export interface ParsedText {
  readonly text: string;
  /** Where the next field begins. */
  readonly end: number;
}

/** Longer names are cut. */
const MAX_TEXT_LENGTH = 200;
// biome-ignore lint/suspicious/noControlCharactersInRegex: programs pad texts with zeros, and token creators write anything.
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

/** Length and UTF-8, without padding and invisible characters. Undefined if it does not fit. */
export function readText(data: Uint8Array, at: number): ParsedText | undefined {
  if (at + 4 > data.length) return undefined;
  const end = at + 4 + readU32(data, at);
  if (end > data.length) return undefined;
  const text = new TextDecoder()
    .decode(data.subarray(at + 4, end))
    .replace(CONTROL, "")
    .trim();
  return { text: Array.from(text).slice(0, MAX_TEXT_LENGTH).join(""), end };
}

export function readKey(data: Uint8Array, at: number): string {
  return encodeBase58(data.subarray(at, at + 32));
}

export function readU16(data: Uint8Array, at: number): number {
  return (data[at] as number) | ((data[at + 1] as number) << 8);
}
