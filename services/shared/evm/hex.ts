import type { Hex } from "./port.ts";

/** A JSON-RPC quantity (`0x1a`) as a safe integer; undefined for anything else. */
export function parseQuantity(value: unknown): number | undefined {
  if (typeof value !== "string" || value.length < 3 || value.length > 66) return undefined;
  if (value.charCodeAt(0) !== 48 || value.charCodeAt(1) !== 120) return undefined;
  // Number() accepts exactly the 0x… integer literals: another character gives NaN.
  const parsed = Number(value);
  return Number.isSafeInteger(parsed) ? parsed : undefined;
}

export function toQuantity(value: number): Hex {
  return `0x${value.toString(16)}`;
}

const HASH = /^0x[0-9a-f]{64}$/;
const ADDRESS = /^0x[0-9a-f]{40}$/;
const BYTES = /^0x(?:[0-9a-f]{2})*$/;

/** Lower-case 32-byte hex, or undefined where the value is not one. */
export function parseHash(value: unknown): Hex | undefined {
  return parseForm(value, HASH);
}

/** Lower-case 20-byte hex, or undefined where the value is not one. */
export function parseAddress(value: unknown): Hex | undefined {
  return parseForm(value, ADDRESS);
}

/** Lower-case hex of whole bytes, or undefined where the value is not that. */
export function parseBytes(value: unknown): Hex | undefined {
  return parseForm(value, BYTES);
}

function parseForm(value: unknown, form: RegExp): Hex | undefined {
  if (typeof value !== "string") return undefined;
  if (form.test(value)) return value as Hex;
  const lower = value.toLowerCase();
  return form.test(lower) ? (lower as Hex) : undefined;
}
