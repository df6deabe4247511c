import type { Request } from "express";
import { ServiceError } from "../../services/shared/errors.ts";
import { faultOfForm } from "../../services/shared/http/request-line.ts";

/** Characters of a request target. The longest sensible query of the catalogue is under 1 KB. */
export const MAX_TARGET_LENGTH = 8_192;

const PRINTABLE_ASCII = /^[\x21-\x7e]*$/;
const ORIGIN_OF_ABSOLUTE_TARGET = /^https?:\/\/[^/?#]+/i;

export interface Target {
  readonly path: string;
  /** Without "?". */
  readonly query: string;
}

/**
 * Cuts a request target into path and query. The origin of an absolute target (`GET http://host/path`) and a fragment
 * are dropped; nothing is decoded, so that no encoded or doubled slash can turn into one of our paths.
 */
export function splitTarget(target: string): Target {
  const local = target.startsWith("/") ? target : target.replace(ORIGIN_OF_ABSOLUTE_TARGET, "");
  const hash = local.indexOf("#");
  const whole = hash === -1 ? local : local.slice(0, hash);
  const mark = whole.indexOf("?");
  return mark === -1
    ? { path: whole, query: "" }
    : { path: whole.slice(0, mark), query: whole.slice(mark + 1) };
}

/**
 * Throws for a form that no route of ours can mean: `bad_request` for its target, head or body,
 * `http_version_not_supported`. The first check at both hosts.
 */
export function checkRequest(req: Request): void {
  const fault = faultOfForm(req);
  if (fault !== undefined) throw fault;
  if (req.headers.host === undefined && req.httpVersion !== "1.0") {
    throw new ServiceError("bad_request", "The header Host is missing.");
  }
  if (namesTwoHosts(req.rawHeaders)) {
    throw new ServiceError("bad_request", "The header Host was sent more than once.");
  }
  if (req.url.length > MAX_TARGET_LENGTH) {
    throw new ServiceError("bad_request", `The URL is longer than ${MAX_TARGET_LENGTH} characters.`);
  }
  if (!PRINTABLE_ASCII.test(req.url)) {
    throw new ServiceError(
      "bad_request",
      "The URL may hold printable ASCII characters only; percent-encode the others.",
    );
  }
}

/** Node keeps the first of several; what stands before us may have gone by the last (RFC 9112 §3.2). */
function namesTwoHosts(rawHeaders: readonly string[]): boolean {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === 4 && name.toLowerCase() === "host") count += 1;
  }
  return count > 1;
}
