/**
 * Both directions are lists of what may pass, not of what must not: credentials, known ones and those of tomorrow
 * (X-API-KEY, cookies, authorization, payments), and hop-by-hop headers stay behind without being named here.
 */

const ANSWERED = new Set([
  "cache-control",
  "content-type",
  "etag",
  "last-modified",
  "retry-after",
  "vary",
  "x-ignored-parameters",
]);
const ANSWERED_PREFIX = "x-data-";

export interface SentUpstream {
  readonly session: string;
  readonly ifNoneMatch: string | undefined;
  /** Of our own making, whatever a client sent. */
  readonly trace?: Readonly<Record<string, string>> | undefined;
}

/** The headers of a request to a service: a new object for each, so that no two requests can share one. */
export function headersForUpstream({ session, ifNoneMatch, trace }: SentUpstream): Record<string, string> {
  const headers: Record<string, string> = { "x-session-id": session };
  if (ifNoneMatch !== undefined) headers["if-none-match"] = ifNoneMatch;
  if (trace !== undefined) Object.assign(headers, trace);
  return headers;
}

/** Whether a header of an upstream's answer reaches the client; `name` in lower case. */
export function isAnswerHeader(name: string): boolean {
  return ANSWERED.has(name) || name.startsWith(ANSWERED_PREFIX);
}
