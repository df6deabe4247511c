/** The head of an HTTP/1.1 answer: status, headers, and how far its body reaches (RFC 9112 §6). Pure. */

import { BadHttp } from "./faults.ts";

export type Framing =
  | { readonly kind: "none" }
  | { readonly kind: "length"; readonly bytes: number }
  | { readonly kind: "chunked" };

export interface Head {
  readonly status: number;
  /** Names in lower case; of repeated headers the values in one, separated by commas. No prototype. */
  readonly headers: Readonly<Record<string, string>>;
  readonly framing: Framing;
  /** Whether the connection may carry another request after this answer. */
  readonly isKept: boolean;
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: [^\r\n\0]*)?$/;
/**
 * A line that goes on from the one before begins with a blank, which no name holds. Values hold what RFC 9110 §5.5 lets
 * them: they are written into answers as they are.
 */
const LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):([\t\x20-\x7e\x80-\xff]*)$/;

/** Reads a head without its empty last line. Throws BadHttp. */
export function parseHead(text: string): Head {
  let end = text.indexOf("\r\n");
  const first = end === -1 ? text : text.slice(0, end);
  const [, minor, digits] = STATUS_LINE.exec(first) ?? [];
  if (digits === undefined) throw new BadHttp("The answer does not begin with an HTTP/1.1 status line");
  const status = Number(digits);
  const headers: Record<string, string> = Object.create(null);
  while (end !== -1) {
    const start = end + 2;
    end = text.indexOf("\r\n", start);
    const [, name, value] = LINE.exec(end === -1 ? text.slice(start) : text.slice(start, end)) ?? [];
    if (name === undefined || value === undefined) throw new BadHttp("A header line is none");
    const key = name.toLowerCase();
    const before = headers[key];
    headers[key] = before === undefined ? value.trim() : `${before}, ${value.trim()}`;
  }
  const encoding = headers["content-encoding"]?.toLowerCase() ?? "identity";
  if (encoding !== "identity") throw new BadHttp("The body is in a content coding that nobody asked for");
  const framing = framingOf(status, headers);
  const connection = headers.connection?.toLowerCase();
  const isKept = minor === "1" ? connection?.includes("close") !== true : connection === "keep-alive";
  return { status, headers, framing, isKept };
}

function framingOf(status: number, headers: Readonly<Record<string, string>>): Framing {
  const coding = headers["transfer-encoding"]?.toLowerCase();
  const length = headers["content-length"];
  // Either alone is clear; both together are how answers are smuggled.
  if (coding !== undefined && length !== undefined) throw new BadHttp("The answer has a length and chunks");
  if (coding !== undefined && coding !== "chunked") throw new BadHttp("The transfer coding is not chunked");
  if (length !== undefined && !/^\d{1,15}$/.test(length)) throw new BadHttp("The length is no number");
  if (status < 200 || status === 204 || status === 304) return { kind: "none" };
  if (coding !== undefined) return { kind: "chunked" };
  // A body that ends with its connection cannot be told from one that broke off.
  if (length === undefined) throw new BadHttp("The answer has neither a length nor chunks");
  return { kind: "length", bytes: Number(length) };
}
