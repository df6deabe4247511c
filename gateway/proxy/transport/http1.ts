/** HTTP/1.1 as text: renders GET requests, parses heads and bodies of responses (RFC 9112 §6 and §7). No I/O. */

import { memoizeHeaderName } from "../../request/response-head.ts";
import { InvalidResponse } from "./errors.ts";

const TARGET = /^\/[\x21-\x7e]*$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** The whole text of a GET. `fixedLines` are rendered header lines. Throws where a value would start another line. */
export function renderRequest(
  { target, headers }: { readonly target: string; readonly headers: Readonly<Record<string, string>> },
  fixedLines: string,
): string {
  if (!TARGET.test(target)) throw new Error("Cannot send a request: the target is not printable ASCII");
  return `GET ${target} HTTP/1.1\r\n${fixedLines}${renderLines(headers)}\r\n`;
}

export function renderLines(headers: Readonly<Record<string, string>>): string {
  let text = "";
  for (const name in headers) {
    const value = headers[name] as string;
    if (!VALUE.test(value)) throw new Error(`Cannot send a request: ${name} contains control characters`);
    text += `${name}: ${value}\r\n`;
  }
  return text;
}

/** Where a body ends. */
export type Framing =
  | { readonly kind: "none" }
  | { readonly kind: "length"; readonly bytes: number }
  | { readonly kind: "chunked" };

export interface ResponseHead {
  readonly status: number;
  /** Names in lower case; values of a repeated header joined by commas. No prototype. */
  readonly headers: Readonly<Record<string, string>>;
  readonly framing: Framing;
  /** Whether the connection can carry another request after this response. */
  readonly isKeptAlive: boolean;
}

/**
 * A whole head without its empty last line, checked in one go. An obsolete continuation line starts with a blank, which
 * no name contains. Values contain what RFC 9110 §5.5 allows: they are written into responses unchanged.
 */
const HEAD =
  /^HTTP\/1\.[01] [1-5]\d\d(?: [^\r\n\0]*)?(?:\r\n[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*)*$/;
const MINOR_AT = "HTTP/1.".length;
const STATUS_AT = "HTTP/1.x ".length;

/** Parses a head without its empty last line. Throws InvalidResponse. */
export function parseHead(text: string): ResponseHead {
  if (!HEAD.test(text)) throw new InvalidResponse("The response does not start with an HTTP/1.1 head");
  const isHttp10 = text[MINOR_AT] === "0";
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
  if (encoding !== "identity") {
    throw new InvalidResponse("The body has a content encoding that the request did not accept");
  }
  const framing = framingOf(status, headers);
  const connection = headers.connection?.toLowerCase();
  const isKeptAlive = isHttp10 ? connection === "keep-alive" : connection?.includes("close") !== true;
  return { status, headers, framing, isKeptAlive };
}

const lowerCase = memoizeHeaderName((name) => name.toLowerCase());

function framingOf(status: number, headers: Readonly<Record<string, string>>): Framing {
  const coding = headers["transfer-encoding"]?.toLowerCase();
  const length = headers["content-length"];
  // Each alone is clear; both together are how responses are smuggled.
  if (coding !== undefined && length !== undefined) {
    throw new InvalidResponse("The response has both a length and chunks");
  }
  if (coding !== undefined && coding !== "chunked") {
    throw new InvalidResponse("The transfer encoding is not chunked");
  }
  if (length !== undefined && !/^\d{1,15}$/.test(length)) {
    throw new InvalidResponse("The Content-Length is not a number");
  }
  if (status < 200 || status === 204 || status === 304) return { kind: "none" };
  if (coding !== undefined) return { kind: "chunked" };
  // Where the body ends with its connection, a complete one looks like a truncated one.
  if (length === undefined) throw new InvalidResponse("The response has neither a length nor chunks");
  return { kind: "length", bytes: Number(length) };
}

/** Extracts the bytes of a body from what a connection receives. */
export interface BodyReader {
  /**
   * Passes every piece of the body in `chunk` to `emit`. Returns the bytes behind the body's end (usually none), or
   * undefined while the body continues. Throws InvalidResponse.
   */
  read(chunk: Buffer, emit: (piece: Buffer) => void): Buffer | undefined;
}

const NO_BYTES = Buffer.alloc(0);

export function createBodyReader(framing: Framing): BodyReader {
  if (framing.kind === "length") return createLengthReader(framing.bytes);
  return framing.kind === "chunked" ? createChunkReader() : { read: (chunk) => chunk };
}

function createLengthReader(bytes: number): BodyReader {
  let left = bytes;
  return {
    read(chunk, emit) {
      if (chunk.length < left) {
        if (chunk.length > 0) emit(chunk);
        left -= chunk.length;
        return undefined;
      }
      if (left > 0) emit(chunk.length === left ? chunk : chunk.subarray(0, left));
      const rest = chunk.length === left ? NO_BYTES : chunk.subarray(left);
      left = 0;
      return rest;
    },
  };
}

/** Longer than any chunk size with the extensions that servers send. */
const MAX_LINE = 256;

/** RFC 9112 §7.1. Extensions and trailers are dropped. */
function createChunkReader(): BodyReader {
  let state: "size" | "data" | "data-end" | "trailer" = "size";
  let line = "";
  let left = 0;

  /** A whole line without its end, once all of it has arrived; `at` is the position behind it. */
  const readLine = (chunk: Buffer, at: number): { text: string | undefined; at: number } => {
    const end = chunk.indexOf(10, at);
    line += chunk.toString("latin1", at, end === -1 ? chunk.length : end);
    if (line.length > MAX_LINE) throw new InvalidResponse("A chunk's line is too long");
    if (end === -1) return { text: undefined, at: chunk.length };
    if (!line.endsWith("\r")) throw new InvalidResponse("A chunk's line ends without a carriage return");
    const text = line.slice(0, -1);
    line = "";
    return { text, at: end + 1 };
  };

  /** Returns true at the end of the body. */
  const onLine = (text: string): boolean => {
    if (state === "data-end") {
      if (text !== "") throw new InvalidResponse("A chunk is longer than its size");
      state = "size";
      return false;
    }
    if (state === "trailer") return text === "";
    const size = /^([0-9A-Fa-f]{1,8})[ \t]*(?:;|$)/.exec(text)?.[1];
    if (size === undefined) throw new InvalidResponse("A chunk has no size");
    left = Number.parseInt(size, 16);
    state = left === 0 ? "trailer" : "data";
    return false;
  };

  return {
    read(chunk, emit) {
      let at = 0;
      while (at < chunk.length) {
        if (state === "data") {
          const end = Math.min(chunk.length, at + left);
          emit(chunk.subarray(at, end));
          left -= end - at;
          at = end;
          if (left === 0) state = "data-end";
          continue;
        }
        const { text, at: next } = readLine(chunk, at);
        at = next;
        if (text !== undefined && onLine(text)) return chunk.subarray(at);
      }
      return undefined;
    },
  };
}
