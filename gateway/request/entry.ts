import type { Request, Response } from "express";
import { ServiceError } from "../../services/shared/errors.ts";
import { beginExchange, type Exchange, type ExchangeSinks } from "../../services/shared/http/exchange.ts";
import { acceptRequest, type BodyRule, findRequestError } from "../../services/shared/http/request-checks.ts";

/** Handles a request whose exchange has begun. */
export type HandleExchange = (req: Request, res: Response, exchange: Exchange) => void | Promise<void>;

/**
 * The first step of both hosts: a request behind a malformed one on the same connection gets no response
 * (request-checks.ts); every other one gets its session, its log line and its place in the metrics. One middleware, since
 * each costs every request.
 */
export function createExchangeHandler(
  options: ExchangeSinks & {
    readonly isDraining: () => boolean;
    /** Which requests may have a body; none by default. */
    readonly allowsBody?: (req: Request) => boolean;
  },
  handle: HandleExchange,
): (req: Request, res: Response) => void | Promise<void> {
  return (req, res) => {
    const allowsBody = req.method === "POST" && options.allowsBody?.(req) === true;
    if (!acceptRequest(req, res, { allowsBody })) return;
    const exchange = beginExchange(options, { req, res });
    if (options.isDraining()) res.shouldKeepAlive = false;
    return handle(req, res, exchange);
  };
}

/** Characters of a request target: 500 addresses of Solana with percent-encoded commas are 23,500. */
export const MAX_TARGET_LENGTH = 24_576;

const PRINTABLE_ASCII = /^[\x21-\x7e]*$/;
const ORIGIN_OF_ABSOLUTE_TARGET = /^https?:\/\/[^/?#]+/i;

export interface Target {
  readonly path: string;
  /** Without "?". */
  readonly query: string;
}

/**
 * Splits a request target into path and query. The origin of an absolute target (`GET http://host/path`) and a fragment
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
 * Throws for a request that no route can mean: `bad_request` for its target, head or body, `http_version_not_supported`.
 * The first check at both hosts.
 */
export function checkRequest(req: Request, rule?: BodyRule): void {
  const error = findRequestError(req, rule);
  if (error !== undefined) throw error;
  if (req.headers.host === undefined && req.httpVersion !== "1.0") {
    throw new ServiceError("bad_request", "The header Host is missing.");
  }
  if (hasTwoHosts(req.rawHeaders)) {
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

/** Node keeps the first of several Host headers; a proxy in front may have used the last (RFC 9112 §3.2). */
function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === 4 && name.toLowerCase() === "host") count += 1;
  }
  return count > 1;
}
