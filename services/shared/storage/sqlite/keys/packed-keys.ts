import type { FieldInfo } from "../../declaration.ts";
import type { Stored } from "../../values.ts";
import { lengthOf, writeBytes } from "../cell.ts";
import { compareRecords, MOST_SORTED, sortRecords } from "./sort.ts";

/** A sign and the digits of the largest integer. */
const INTEGER_BYTES = 17;
const HALF_DIGITS = 8;
const HALF = 10 ** HALF_DIGITS;
const ZERO = 48;
const MINUS = 45;

/** How a field is packed: hex as its bytes, integers as decimal digits, texts as ASCII. */
type Form = "hex" | "integer" | "text";

export type Key = Readonly<Record<string, unknown>>;

/** A field of a key, with what checks and encodes its values. */
export interface KeyField {
  readonly field: FieldInfo;
  readonly encode: (value: unknown) => Stored;
}

/** Where a field is in each packed key. */
export interface PackedField {
  readonly field: FieldInfo;
  readonly form: Form;
  readonly at: number;
  readonly length: number;
}

/** Distinct keys of one length, one after the other in the order of their bytes. */
export interface PackedKeys {
  readonly fields: readonly PackedField[];
  readonly bytes: Uint8Array;
  /** Bytes of a key. */
  readonly width: number;
  /** The keys as they were given. */
  readonly keys: readonly Key[];
}

/**
 * Packs the keys of a look-up (selectPackedSql). As a JSON list, which SQLite parses once for all and once more for each value,
 * a look-up takes half as long again.
 * @returns undefined where they have no common length, or hold texts beyond ASCII
 * @throws TypeError for a value that its field cannot hold
 */
export function packKeys(keys: readonly Key[], fields: readonly KeyField[]): PackedKeys | undefined {
  const [first] = keys;
  if (first === undefined || keys.length > MOST_SORTED) return undefined;
  const packed = layOut(first, fields);
  const last = packed.at(-1) as PackedField;
  const width = last.at + last.length;
  // SQLite has nothing to take a part of where there are no bytes at all.
  if (width === 0) return undefined;
  const bytes = new Uint8Array(width * keys.length);
  for (let i = 0; i < keys.length; i++)
    for (let f = 0; f < packed.length; f++) {
      const place = packed[f] as PackedField;
      const { encode } = fields[f] as KeyField;
      if (!write(bytes, width * i, { place, encode, value: (keys[i] as Key)[place.field.name] }))
        return undefined;
    }
  return distinct(keys, { fields: packed, bytes, width });
}

function distinct(keys: readonly Key[], { fields, bytes, width }: Omit<PackedKeys, "keys">): PackedKeys {
  const records = { bytes, width, count: keys.length };
  const sorted = new Uint8Array(bytes.length);
  const kept: Key[] = [];
  let previous = -1;
  for (const place of sortRecords(records)) {
    if (previous >= 0 && compareRecords(records, previous, place) === 0) continue;
    previous = place;
    // Byte by byte: a view of them takes longer to make.
    for (let from = width * place, to = width * kept.length, i = 0; i < width; i++)
      sorted[to + i] = bytes[from + i] as number;
    kept.push(keys[place] as Key);
  }
  return { fields, bytes: sorted.subarray(0, width * kept.length), width, keys: kept };
}

/** Places of the fields in keys that are as long as this one. */
function layOut(key: Key, fields: readonly KeyField[]): PackedField[] {
  let at = 0;
  return fields.map(({ field, encode }) => {
    const form = formOf(field);
    const length = lengthIn(form, encode(key[field.name]));
    at += length;
    return { field, form, at: at - length, length };
  });
}

function formOf({ type }: FieldInfo): Form {
  if (type === "hex") return "hex";
  return type === "int" || type === "bool" ? "integer" : "text";
}

function lengthIn(form: Form, value: Stored): number {
  if (form === "integer") return INTEGER_BYTES;
  return form === "hex" ? lengthOf(value as string) : (value as string).length;
}

/** False for a value of another length, and for a text beyond ASCII. @throws TypeError for what is no value of the field. */
function write(
  into: Uint8Array,
  from: number,
  {
    place: { form, at, length },
    encode,
    value,
  }: { place: PackedField; encode: KeyField["encode"]; value: unknown },
): boolean {
  // Hex is checked as it is written, not before that too.
  const isHex = form === "hex" && typeof value === "string" && lengthOf(value) === length;
  if (isHex && writeBytes(value, into, from + at)) return true;
  const stored = encode(value);
  if (form === "hex" || lengthIn(form, stored) !== length) return false;
  if (form === "text") return writeText(into, from + at, stored as string);
  writeInteger(into, from + at, stored as number);
  return true;
}

function writeText(into: Uint8Array, at: number, text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 127) return false;
    into[at + i] = code;
  }
  return true;
}

function writeInteger(into: Uint8Array, at: number, value: number): void {
  const size = Math.abs(value);
  const high = Math.floor(size / HALF);
  into[at] = value < 0 ? MINUS : ZERO;
  writeDigits(into, at + 1, high);
  writeDigits(into, at + 1 + HALF_DIGITS, size - HALF * high);
}

function writeDigits(into: Uint8Array, at: number, value: number): void {
  let rest = value;
  for (let i = at + HALF_DIGITS - 1; i >= at; i--) {
    // Within 32 bits: half the time of a float's division.
    const tens = (rest / 10) | 0;
    into[i] = ZERO + rest - 10 * tens;
    rest = tens;
  }
}
