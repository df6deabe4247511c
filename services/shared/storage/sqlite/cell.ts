import { writeHexDigits } from "../../hex-digits.ts";
import type { Stored } from "../values.ts";

/** A value of a row that is written: hex as its bytes. It is read, and compared with, as text (sql.ts). */
export type Cell = Stored | Uint8Array;

const ZERO = 48;
const LETTER_X = 120;

/** The bytes of canonical hex ("" has none); undefined for what is not canonical. */
export function bytesOf(hex: string): Uint8Array | undefined {
  const length = lengthOf(hex);
  if (!Number.isInteger(length)) return undefined;
  const bytes = new Uint8Array(length);
  return writeBytes(hex, bytes, 0) ? bytes : undefined;
}

/** How many bytes canonical hex has. Of any other text it may be a fraction, or negative. */
export function lengthOf(hex: string): number {
  return hex === "" ? 0 : hex.length / 2 - 1;
}

/** Writes the bytes of hex that has so many. Returns whether it is canonical. */
export function writeBytes(hex: string, into: Uint8Array, at: number): boolean {
  if (hex === "") return true;
  const isPrefixed = hex.charCodeAt(0) === ZERO && hex.charCodeAt(1) === LETTER_X && hex.length > 2;
  return isPrefixed && writeHexDigits(hex, 2, into, at);
}

export function hexOf(bytes: Uint8Array): string {
  return bytes.length === 0 ? "" : `0x${Buffer.from(bytes).toString("hex")}`;
}
