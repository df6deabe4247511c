/** Parses a response whose result is one long list and little else, such as a block with its transactions. */
import { Buffer } from "node:buffer";

/**
 * A long list in a call's result, by its name there. Its elements are parsed one after another, and `convert` keeps what
 * is needed of each: the rest is garbage while it is young, and a body of 10 MB never becomes one text. `convert` must
 * neither throw nor have effects: a response that turns out not to be JSON counts for nothing.
 */
export interface ResultList {
  readonly name: string;
  readonly convert: (element: unknown, index: number) => unknown;
}

/** The list is looked for in so many bytes from the start: nodes write it behind a few short fields. */
const HEAD_BYTES = 4_096;

/** In place of the list's elements while the rest is parsed. */
const MARK = "\u0001 list";

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * A JSON-RPC response with the converted elements in place of the list's. Throws SyntaxError for what JSON.parse rejects.
 *
 * @param body in parts, as they came
 */
export function parseWithList(body: readonly Uint8Array[], list: ResultList): unknown {
  const { head, rest } = splitHead(body);
  // Within a text its first quote would be escaped, so that this can only be the name of a list.
  const name = `"${list.name}":[`;
  const place = head.indexOf(name);
  if (place >= 0) {
    const from = place + name.length;
    const { elements, behind } = convertElements([head.subarray(from), ...rest], list.convert);
    const response: unknown = JSON.parse(head.toString("utf8", 0, from) + JSON.stringify(MARK) + behind);
    const result = resultOf(response);
    const around = result?.[list.name];
    if (result !== undefined && Array.isArray(around) && around[0] === MARK) {
      result[list.name] = elements;
      return response;
    }
    // A list of this name, but not the result's own.
  }
  return convertList(JSON.parse(Buffer.concat(body).toString("utf8")), list);
}

/** The same for a response that was parsed as a whole. */
export function convertList(response: unknown, { name, convert }: ResultList): unknown {
  const result = resultOf(response);
  const elements = result?.[name];
  if (result !== undefined && Array.isArray(elements))
    result[name] = elements.map((element, i) => convert(element, i));
  return response;
}

function resultOf(response: unknown): Record<string, unknown> | undefined {
  const result = isRecord(response) ? response.result : undefined;
  return isRecord(result) ? result : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function splitHead(body: readonly Uint8Array[]): { head: Buffer; rest: readonly Uint8Array[] } {
  let bytes = 0;
  let count = 0;
  while (count < body.length && bytes < HEAD_BYTES) bytes += (body[count++] as Uint8Array).length;
  return { head: Buffer.concat(body.slice(0, count)), rest: body.slice(count) };
}

/** `behind` begins with the bracket that ends the list. */
function convertElements(
  parts: readonly Uint8Array[],
  convert: ResultList["convert"],
): { elements: unknown[]; behind: string } {
  const elements: unknown[] = [];
  /** What earlier parts have of the current element. */
  let begun: Uint8Array[] = [];
  const place: Place = { depth: 0, isText: false };
  let at = 0;
  for (const [number, part] of parts.entries()) {
    let start = 0;
    for (at = findDelimiter(part, at, place); at < part.length; at = findDelimiter(part, at + 1, place)) {
      const text = joinText([...begun, part.subarray(start, at)]);
      const isLast = part[at] !== COMMA;
      const isEmptyList = isLast && elements.length === 0 && text.trim() === "";
      if (!isEmptyList) elements.push(convert(JSON.parse(text), elements.length));
      if (isLast) return { elements, behind: joinText([part.subarray(at), ...parts.slice(number + 1)]) };
      begun = [];
      start = at + 1;
    }
    // A part that ends with a backslash takes the next one's first byte with it.
    at -= part.length;
    if (start < part.length) begun.push(part.subarray(start));
  }
  throw new SyntaxError("The list does not end.");
}

/** Where a scan is within the current element. */
interface Place {
  depth: number;
  isText: boolean;
}

/** The next comma or closing bracket outside of any element, from a byte on; the part's length, or one more, without one. */
function findDelimiter(part: Uint8Array, from: number, place: Place): number {
  let { depth, isText } = place;
  let at = from;
  for (; at < part.length; at++) {
    if (isText) at = findQuote(part, at);
    const byte = part[at];
    if (byte === undefined) break;
    if (byte === QUOTE) isText = !isText;
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++;
    else if (depth > 0) {
      if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) depth--;
    } else if (byte === COMMA || byte === CLOSE_LIST || byte === CLOSE_OBJECT) break;
  }
  place.depth = depth;
  place.isText = isText;
  return at;
}

/** The quote that ends a text; the part's length, or one more, without one. */
function findQuote(part: Uint8Array, from: number): number {
  let at = from;
  while (at < part.length && part[at] !== QUOTE) at += part[at] === BACKSLASH ? 2 : 1;
  return at;
}

function joinText(parts: readonly Uint8Array[]): string {
  const [only] = parts;
  const bytes = parts.length === 1 ? (only as Uint8Array) : Buffer.concat(parts);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
}
