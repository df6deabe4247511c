/** The head of an HTTP/1.1 answer: status, headers, and how far its body reaches (RFC 9112 §6). Pure. */

import { memoizeHeaderName } from "../../request/known-names.ts";
import { BadHttp } from "./errors.ts";

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

/**
 * A whole head without its empty last line, judged in one go. A line that goes on from the one before begins with a
 * blank, which no name holds. Values hold what RFC 9110 §5.5 lets them: they are written into answers as they are.
 */
const HEAD =
  /^HTTP\/1\.[01] [1-5]\d\d(?: [^\r\n\0]*)?(?:\r\n[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*)*$/;
const MINOR_AT = "HTTP/1.".length;
const STATUS_AT = "HTTP/1.x ".length;

/** Reads a head without its empty last line. Throws BadHttp. */
export function parseHead(text: string): Head {
  if (!HEAD.test(text)) throw new BadHttp("The answer does not begin with a head of HTTP/1.1");
  const isOld = text[MINOR_AT] === "0";
  const status = Number(text.slice(STATUS_AT, STATUS_AT + 3));
  const headers: Record<string, string> = Object.create(null);
  let end = text.indexOf("\r\n");
  while (end !== -1) {
    const start = end + 2;
    const colon = text.indexOf(":", start);
    end = text.indexOf("\r\n", colon);
    const name = lowerCase(text.slice(start, colon));
    const value = text.slice(colon + 1, end === -1 ? undefined : end).trim();
    const before = headers[name];
    headers[name] = before === undefined ? value : `${before}, ${value}`;
  }
  const encoding = headers["content-encoding"]?.toLowerCase() ?? "identity";
  if (encoding !== "identity") throw new BadHttp("The body is in a content coding that nobody asked for");
  const framing = framingOf(status, headers);
  const connection = headers.connection?.toLowerCase();
  const isKept = isOld ? connection === "keep-alive" : connection?.includes("close") !== true;
  return { status, headers, framing, isKept };
}

const lowerCase = memoizeHeaderName((name) => name.toLowerCase());

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
