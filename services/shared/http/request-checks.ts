import type { IncomingMessage, ServerResponse } from "node:http";
import type { RequestHandler } from "express";
import { ServiceError } from "../errors.ts";

/** Whether a request has a body. */
export function hasBody({ headers }: Pick<IncomingMessage, "headers">): boolean {
  const length = headers["content-length"];
  return headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0");
}

/** Whether this request may have a body: where it says how long it is, and somebody reads it. */
export interface BodyRule {
  readonly allowsBody?: boolean;
}

/** Node's parser also accepts 0.9 and 2.0; every other version is a parse error (http-server.ts). */
function isSupportedVersion({ httpVersion }: Pick<IncomingMessage, "httpVersion">): boolean {
  return httpVersion === "1.1" || httpVersion === "1.0";
}

/** The error for an unsupported HTTP version. */
export function versionNotSupported(): ServiceError {
  return new ServiceError(
    "http_version_not_supported",
    "The version of HTTP in the request line is not supported: the service answers 1.1 and 1.0.",
  );
}

/** The error of a request with a body or an unsupported HTTP version; undefined if valid. */
export function findRequestError(
  req: Pick<IncomingMessage, "headers" | "httpVersion">,
  { allowsBody = false }: BodyRule = {},
): ServiceError | undefined {
  if (!isSupportedVersion(req)) return versionNotSupported();
  if (!allowsBody && hasBody(req)) return new ServiceError("bad_request", "A request must not carry a body.");
  return undefined;
}

/** Set on a connection whose next request must not be answered. */
const IS_CLOSING = Symbol("is closing");

/**
 * The first check of a host that accepts no bodies, but where `allowsBody` says so: returns whether a request may be answered.
 *
 * A malformed request closes its connection, whatever the method and path: its body is not read, and a proxy in front
 * may see other request boundaries (request smuggling). A further request that Node parsed from the same packet is not
 * answered, since the proxy may not have sent it; closing the connection ends its client's wait.
 */
export function acceptRequest(req: IncomingMessage, res: ServerResponse, rule: BodyRule = {}): boolean {
  const connection = req.socket as IncomingMessage["socket"] & { [IS_CLOSING]?: true };
  if (connection[IS_CLOSING]) {
    closeUnanswered(res);
    return false;
  }
  if (findRequestError(req, rule) !== undefined) {
    connection[IS_CLOSING] = true;
    res.shouldKeepAlive = false;
  }
  return true;
}

/** A response gets its connection when those before it are finished. It never does where the last one closed it. */
function closeUnanswered(res: ServerResponse): void {
  if (res.socket) res.socket.destroySoon();
  else res.once("socket", (socket: IncomingMessage["socket"]) => socket.destroy());
}

/** The same check as a middleware after `trackExchanges`: sends the error body. */
export function rejectMalformedRequests(): RequestHandler {
  return (req, _res, next) => next(findRequestError(req));
}
