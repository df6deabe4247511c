/**
 * Both directions are lists of what passes, not of what is blocked: credentials, known ones and those of tomorrow
 * (X-API-KEY, cookies, authorization, payments), and hop-by-hop headers stay behind without being named here.
 */

import { bearer, TOKEN_HEADER } from "../../../services/shared/service/service-token.ts";

const FORWARDED = new Set([
  "cache-control",
  "content-type",
  "etag",
  "last-modified",
  "retry-after",
  "vary",
  "x-ignored-parameters",
]);
const FORWARDED_PREFIX = "x-data-";

/** Whether a header of a service's response reaches the client; `name` in lower case. */
export function isForwardedHeader(name: string): boolean {
  return FORWARDED.has(name) || name.startsWith(FORWARDED_PREFIX);
}

export interface VariableHeaders {
  /** Entity tags for which 304 is a useful response. */
  readonly ifNoneMatch: string | undefined;
  /** Headers that carry the trace on: made by the gateway, whatever a client sent. */
  readonly traceHeaders?: Readonly<Record<string, string>> | undefined;
}

/** The headers of a request to a service: a new object for each, so that no two requests can share one. */
export function headersForUpstream(
  session: string,
  { ifNoneMatch, traceHeaders }: VariableHeaders,
): Record<string, string> {
  const headers: Record<string, string> = { "x-session-id": session };
  if (ifNoneMatch !== undefined) headers["if-none-match"] = ifNoneMatch;
  if (traceHeaders !== undefined) Object.assign(headers, traceHeaders);
  return headers;
}

const TARGET = /^\/[\x21-\x7e]*$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

export interface RequestHead {
  /** Path and query. */
  readonly target: string;
  /** Lines that all requests to this replica share, made once by renderFixedLines. */
  readonly fixedLines: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The whole text of a GET. Throws where a value would start another line or another request. */
export function renderRequest({ target, fixedLines, headers }: RequestHead): string {
  if (!TARGET.test(target)) throw new Error("Cannot send a request: the target is not printable ASCII");
  return `GET ${target} HTTP/1.1\r\n${fixedLines}${renderLines(headers)}\r\n`;
}

/** The host and, where the service demands it, the token. */
export function renderFixedLines({
  host,
  serviceToken,
}: {
  readonly host: string;
  readonly serviceToken?: string | undefined;
}): string {
  return renderLines({
    host,
    ...(serviceToken !== undefined && { [TOKEN_HEADER]: bearer(serviceToken) }),
  });
}

function renderLines(headers: Readonly<Record<string, string>>): string {
  let text = "";
  for (const name in headers) {
    const value = headers[name] as string;
    if (!VALUE.test(value)) throw new Error(`Cannot send a request: ${name} contains control characters`);
    text += `${name}: ${value}\r\n`;
  }
  return text;
}
