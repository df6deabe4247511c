import type { Stored } from "../values.ts";

/** A value of a row that is written: hex as its bytes. It is read, and compared with, as text (sql.ts). */
export type Cell = Stored | Uint8Array;

/** The bytes of canonical hex ("" has none). */
export function bytesOf(hex: string): Uint8Array {
  const bytes = new Uint8Array(lengthOf(hex));
  writeBytes(hex, bytes, 0);
  return bytes;
}

/** How many bytes canonical hex has. */
export function lengthOf(hex: string): number {
  return hex === "" ? 0 : hex.length / 2 - 1;
}

/** Writes the bytes of canonical hex. */
export function writeBytes(hex: string, into: Uint8Array, at: number): void {
  for (let i = 2, to = at; i < hex.length; i += 2, to++)
    into[to] = 16 * digitOf(hex.charCodeAt(i)) + digitOf(hex.charCodeAt(i + 1));
}

function digitOf(code: number): number {
  return code < 58 ? code - 48 : code - 87;
}

export function hexOf(bytes: Uint8Array): string {
  return bytes.length === 0 ? "" : `0x${Buffer.from(bytes).toString("hex")}`;
}
