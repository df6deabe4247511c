import { hasHexDigits } from "../hex-digits.ts";
import { decodeBigint, encodeBigint } from "./bigint-key.ts";
import type { FieldInfo } from "./declaration.ts";

/** A value as both engines store it: big integers and json are text. */
export type Stored = string | number | boolean | null;

/** Conversions of one engine: SQLite has no booleans and cuts text at NUL. */
export interface Dialect {
  readonly bool?: { encode(value: boolean): Stored; decode(stored: unknown): boolean };
  readonly text?: { encode(value: string): string; decode(stored: string): string };
}

/**
 * A checked conversion of one field's values. Strict on purpose: a value of the wrong type would be stored differently
 * by each engine.
 * @throws TypeError that names collection, field and value.
 */
export function encoderOf(
  collection: string,
  field: FieldInfo,
  dialect: Dialect = {},
): (value: unknown) => Stored {
  const encode = bareEncoder(field, dialect, (value, rule) => {
    const shown =
      typeof value === "string"
        ? JSON.stringify(value.slice(0, 80))
        : Array.isArray(value)
          ? "a list"
          : String(value);
    return new TypeError(
      `Cannot use ${shown} as ${collection}.${field.name}: it must be ${rule}${field.nullable ? " or null" : ""}`,
    );
  });
  return field.nullable ? (value) => (value === null ? null : encode(value)) : encode;
}

function bareEncoder(
  field: FieldInfo,
  dialect: Dialect,
  error: (value: unknown, rule: string) => TypeError,
): (value: unknown) => Stored {
  switch (field.type) {
    case "text": {
      const encodeText = dialect.text?.encode;
      return (value) => {
        if (typeof value !== "string") throw error(value, "text");
        return encodeText === undefined ? value : encodeText(value);
      };
    }
    case "hex":
      return (value) => {
        if (!isHex(value)) throw error(value, "0x and lower-case hex digits in pairs, or empty");
        return value;
      };
    case "int":
      return (value) => {
        if (!Number.isSafeInteger(value)) throw error(value, "an integer within ±(2^53 − 1)");
        return (value as number) + 0;
      };
    case "float":
      return (value) => {
        if (typeof value !== "number" || !Number.isFinite(value)) throw error(value, "a finite number");
        return value + 0; // −0 becomes 0: SQLite does not keep the sign of zero.
      };
    case "bool": {
      const encodeBool = dialect.bool?.encode;
      return (value) => {
        if (typeof value !== "boolean") throw error(value, "true or false");
        return encodeBool === undefined ? value : encodeBool(value);
      };
    }
    case "bigint":
      return (value) => {
        if (typeof value !== "bigint") throw error(value, "a bigint");
        try {
          return encodeBigint(value);
        } catch {
          throw error(value, "a bigint within ±2^256");
        }
      };
    case "json":
      return (value) => {
        let text: string | undefined;
        try {
          text = JSON.stringify(value);
        } catch {
          text = undefined;
        }
        if (text === undefined) throw error(value, "plain JSON");
        return text;
      };
  }
}

function isHex(value: unknown): value is string {
  if (value === "") return true;
  if (typeof value !== "string" || value.length < 4 || value.length % 2 !== 0) return false;
  return value.startsWith("0x") && hasHexDigits(value, 2);
}

/** Decodes a stored value; undefined where the stored value is already the row's value. */
export function decoderOf(
  field: FieldInfo,
  dialect: Dialect = {},
): ((stored: unknown) => unknown) | undefined {
  const decode = bareDecoder(field, dialect);
  if (decode === undefined || !field.nullable) return decode;
  return (stored) => (stored === null ? null : decode(stored));
}

function bareDecoder(field: FieldInfo, dialect: Dialect): ((stored: unknown) => unknown) | undefined {
  switch (field.type) {
    case "text":
      return dialect.text === undefined ? undefined : (dialect.text.decode as (stored: unknown) => string);
    case "bool":
      return dialect.bool?.decode;
    case "bigint":
      return (stored) => decodeBigint(stored as string);
    case "json":
      return (stored) => JSON.parse(stored as string) as unknown;
    default:
      return undefined;
  }
}
