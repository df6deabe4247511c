import type { IncomingMessage, ServerResponse } from "node:http";
import type { RequestHandler } from "express";
import { ServiceError } from "../errors.ts";

/** Whether a request announces a body. */
export function hasBody({ headers }: Pick<IncomingMessage, "headers">): boolean {
  const length = headers["content-length"];
  return headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0");
}

/** Node's parser also accepts 0.9 and 2.0; every other version is a parse error (http-server.ts). */
function isSpoken({ httpVersion }: Pick<IncomingMessage, "httpVersion">): boolean {
  return httpVersion === "1.1" || httpVersion === "1.0";
}

/** The answer to a request in a version of HTTP that we do not speak. */
export function versionNotSupported(): ServiceError {
  return new ServiceError(
    "http_version_not_supported",
    "The version of HTTP in the request line is not supported: the service answers 1.1 and 1.0.",
  );
}

/** What is wrong with the form of a request at a host that takes no bodies; undefined where nothing is. */
export function findRequestError(
  req: Pick<IncomingMessage, "headers" | "httpVersion">,
): ServiceError | undefined {
  if (!isSpoken(req)) return versionNotSupported();
  if (hasBody(req)) return new ServiceError("bad_request", "A request must not carry a body.");
  return undefined;
}

/** Set on a connection whose next request is not to be answered. */
const IS_CLOSING = Symbol("is closing");

/**
 * The first step of a host that takes no bodies: returns whether a request may be answered.
 *
 * A request of a bad form closes its connection, whatever answers it: nobody reads the body, and what stands before us
 * may see other request boundaries than we do. Node may have parsed a further request from the same packet by then. That
 * one is not answered, since a proxy may never have sent it; its connection is closed in any case, so that no client
 * waits for ever.
 */
export function acceptRequest(req: IncomingMessage, res: ServerResponse): boolean {
  const connection = req.socket as IncomingMessage["socket"] & { [IS_CLOSING]?: true };
  if (connection[IS_CLOSING]) {
    closeUnanswered(res);
    return false;
  }
  if (hasBody(req) || !isSpoken(req)) {
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

/** The same as a middleware, behind `trackExchanges`: answers a request of a bad form in the one error shape. */
export function rejectMalformedRequests(): RequestHandler {
  return (req, _res, next) => next(findRequestError(req));
}
