import type { Hex } from "../port.ts";

/** A call inside a batch. */
export interface InnerCall {
  readonly to: Hex;
  readonly data: Hex;
}

export interface InnerResult {
  readonly success: boolean;
  readonly data: Hex;
}

/** Succeeds on every chain wherever there is a state: the identity precompile returns its input. */
export const SURE_CALL: InnerCall = { to: `0x${"04".padStart(40, "0")}`, data: "0x70726f6f66" };

/** `aggregate3((address target, bool allowFailure, bytes callData)[])` of Multicall3. */
const AGGREGATE3 = "82ad56cb";
const WORD_BYTES = 32;
const WORD_DIGITS = 64;
/** Words of a call beside its data: its offset, target, allowFailure, the data's offset and length. */
const CALL_WORDS = 5;

/** Throws RangeError for a call that cannot be encoded. */
export function checkCall({ to, data }: InnerCall): void {
  if (!/^0x[0-9a-fA-F]{40}$/.test(to)) throw new RangeError(`Cannot call ${to}: it is not an address`);
  if (!/^0x(?:[0-9a-fA-F]{2})*$/.test(data))
    throw new RangeError(`Cannot call ${to} with ${data}: not bytes`);
}

/** Bytes of a call in the arguments of aggregate3. */
export function innerBytes({ data }: InnerCall): number {
  return CALL_WORDS * WORD_BYTES + padded(bytesOf(data));
}

/** Call data of aggregate3 in which every call may fail by itself. Throws as checkCall. */
export function encodeAggregate3(calls: readonly InnerCall[]): Hex {
  const offsets: string[] = [];
  const tuples: string[] = [];
  let offset = calls.length * WORD_BYTES;
  for (const call of calls) {
    offsets.push(word(offset));
    tuples.push(encodeTuple(call));
    offset += innerBytes(call) - WORD_BYTES;
  }
  return `0x${AGGREGATE3}${word(WORD_BYTES)}${word(calls.length)}${offsets.join("")}${tuples.join("")}`;
}

function encodeTuple({ to, data }: InnerCall): string {
  checkCall({ to, data });
  const bytes = bytesOf(data);
  const target = to.slice(2).toLowerCase().padStart(WORD_DIGITS, "0");
  const content = data.slice(2).padEnd(2 * padded(bytes), "0");
  return `${target}${word(1)}${word(3 * WORD_BYTES)}${word(bytes)}${content}`;
}

/**
 * Decodes the return data of aggregate3 for `count` calls: `(bool success, bytes returnData)[]`. Throws RangeError
 * for anything else: another number of results, or an offset or length that leads out of the data.
 */
export function decodeAggregate3(returned: Hex, count: number): InnerResult[] {
  const list = readSmall(returned, 0);
  const length = readSmall(returned, list);
  if (length !== count)
    throw new RangeError(`Cannot read a batch of ${count} calls: it has ${length} results`);
  const start = list + WORD_BYTES;
  return Array.from({ length }, (_, i) => {
    const tuple = start + readSmall(returned, start + i * WORD_BYTES);
    const success = readSmall(returned, tuple);
    if (success > 1) throw new RangeError(`Cannot read result ${i}: ${success} is not a bool`);
    const data = tuple + readSmall(returned, tuple + WORD_BYTES);
    const bytes = readSmall(returned, data);
    return { success: success === 1, data: `0x${slice(returned, data + WORD_BYTES, bytes)}` };
  });
}

/** The same; undefined for anything else. */
export function tryDecodeAggregate3(returned: Hex, count: number): InnerResult[] | undefined {
  try {
    return decodeAggregate3(returned, count);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The word at a byte of the data, as an offset or a length within the data. */
function readSmall(data: Hex, at: number): number {
  const text = slice(data, at, WORD_BYTES);
  const value = Number(`0x${text}`);
  if (value > data.length) throw new RangeError(`Cannot read ${value} at byte ${at}: the data ends before`);
  return value;
}

function slice(data: Hex, at: number, bytes: number): string {
  const start = 2 + 2 * at;
  if (start + 2 * bytes > data.length)
    throw new RangeError(`Cannot read ${bytes} bytes at ${at}: the data has ${bytesOf(data)}`);
  return data.slice(start, start + 2 * bytes);
}

function bytesOf(data: Hex): number {
  return (data.length - 2) / 2;
}

function padded(bytes: number): number {
  return Math.ceil(bytes / WORD_BYTES) * WORD_BYTES;
}

function word(value: number): string {
  return value.toString(16).padStart(WORD_DIGITS, "0");
}
