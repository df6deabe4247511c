import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";

/**
 * Both directions are lists of what may pass, not of what must not: a credential of tomorrow
 * (X-API-KEY, cookies, authorization, payments) and hop-by-hop headers stay behind without being named here.
 */
const SENT_UPSTREAM = ["accept", "if-none-match"] as const;

const ANSWERED = new Set([
  "cache-control",
  "content-type",
  "content-encoding",
  "etag",
  "last-modified",
  "retry-after",
  "vary",
  "x-ignored-parameters",
]);
const ANSWERED_PREFIX = "x-data-";

export interface ForwardedIdentity {
  readonly session: string;
  /** Address of the client's connection; what the client claims of itself is not believed. */
  readonly clientAddress: string | undefined;
}

/** The headers of a request to a service: a new object for each, so that no two requests can share one. */
export function headersForUpstream(
  sent: IncomingHttpHeaders,
  { session, clientAddress }: ForwardedIdentity,
): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = { "x-session-id": session };
  if (clientAddress !== undefined) headers["x-forwarded-for"] = clientAddress;
  for (const name of SENT_UPSTREAM) {
    const value = sent[name];
    if (value !== undefined) headers[name] = value;
  }
  return headers;
}

/** Whether a header of an upstream's answer reaches the client; `name` in lower case. */
export function isAnswerHeader(name: string): boolean {
  return ANSWERED.has(name) || name.startsWith(ANSWERED_PREFIX);
}

/** Removes from an upstream's headers, in place, everything a client has no use for. */
export function keepAnswerHeaders(headers: IncomingHttpHeaders): void {
  for (const name of Object.keys(headers)) {
    if (!isAnswerHeader(name)) delete headers[name];
  }
}
