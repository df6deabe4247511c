/**
 * Both directions are lists of what passes, not of what is blocked: credentials, known ones and those of tomorrow
 * (X-API-KEY, cookies, authorization, payments), and hop-by-hop headers stay behind without being named here.
 */

const FORWARDED = new Set([
  "cache-control",
  "content-type",
  "etag",
  "last-modified",
  "link",
  "retry-after",
  "vary",
  "x-ignored-parameters",
  "x-total-count",
]);
const FORWARDED_PREFIX = "x-data-";

/** Whether a header of a service's response reaches the client; `name` in lower case. */
export function isForwardedHeader(name: string): boolean {
  return FORWARDED.has(name) || name.startsWith(FORWARDED_PREFIX);
}

export interface VariableHeaders {
  /** Entity tags for which 304 is a useful response. */
  readonly ifNoneMatch: string | undefined;
  /** The media type to ask for, where it is not the endpoint's own: the gateway's words, never a client's header. */
  readonly accept?: string | undefined;
  /** Headers that carry the trace on: made by the gateway, whatever a client sent. */
  readonly traceHeaders?: Readonly<Record<string, string>> | undefined;
}

/** The headers of a request to a service: a new object for each, so that no two requests can share one. */
export function headersForUpstream(
  session: string,
  { ifNoneMatch, accept, traceHeaders }: VariableHeaders,
): Record<string, string> {
  const headers: Record<string, string> = { "x-session-id": session };
  if (ifNoneMatch !== undefined) headers["if-none-match"] = ifNoneMatch;
  if (accept !== undefined) headers.accept = accept;
  if (traceHeaders !== undefined) Object.assign(headers, traceHeaders);
  return headers;
}
