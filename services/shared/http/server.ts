import { randomUUID } from "node:crypto";
import { createServer, IncomingMessage, METHODS, type Server, ServerResponse, STATUS_CODES } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Express } from "express";
import { ServiceError, toErrorBody } from "../errors.ts";
import { describeSystemError } from "../settings/folder.ts";
import { closeIdleConnections, type IdleLimits } from "./idle-connections.ts";
import { closeWithLinger, isLingering } from "./lingering-close.ts";
import { type PendingResponse, trackPendingResponses } from "./pending-responses.ts";
import { versionNotSupported } from "./request-checks.ts";

/** Timeouts of client connections, in milliseconds. */
export interface HttpTimeouts extends IdleLimits {
  /** From the start of a connection, or the first byte of a further request, to the end of the headers. */
  readonly headersMs: number;
  /** The same to the end of the body. */
  readonly requestMs: number;
}

export const HTTP_TIMEOUTS: HttpTimeouts = {
  headersMs: 20_000,
  requestMs: 30_000,
  // Above the idle time of common load balancers (60 s), or they would reuse a connection we are closing.
  idleMs: 65_000,
  stallMs: 60_000,
};
/** The header that announces the keep-alive time to clients. */
export const keepAliveHeader: readonly [name: string, value: string] = [
  "Keep-Alive",
  `timeout=${HTTP_TIMEOUTS.idleMs / 1000}`,
];

/** Sets it on a response, unless its connection closes afterwards. */
export function setKeepAliveHeader(res: ServerResponse): void {
  if (res.shouldKeepAlive) res.setHeader(...keepAliveHeader);
}

/**
 * The request line and all headers of a request: a list of 500 addresses is 24 KB, a payment 8 KB. This is what a connection can make
 * us hold before anybody knows whose it is, for `headersMs` (docs/decisions/0120-lists-of-500-addresses-are-long-urls.md).
 */
export const MAX_HEAD_BYTES = 49_152;

/** How late a slow request may be detected. */
const CHECK_MS = 2_000;

/**
 * An HTTP server for an Express app on a hot path. Express sets the prototype of every request and response to
 * app.request and app.response, which costs most of its time; here they are created with those prototypes, so that the
 * assignment changes nothing. One server per app; share code between apps by routers, since a mounted app would
 * bring the cost back. Malformed HTTP and slow requests get an error body too.
 */
export function createHttpServer(app: Express, timeouts: HttpTimeouts = HTTP_TIMEOUTS): Server {
  class AppRequest extends IncomingMessage {}
  class AppResponse extends ServerResponse {}
  Object.setPrototypeOf(AppRequest.prototype, app.request);
  Object.setPrototypeOf(AppResponse.prototype, app.response);
  app.request = AppRequest.prototype as typeof app.request;
  app.response = AppResponse.prototype as typeof app.response;

  const { headersMs, requestMs, idleMs, stallMs } = timeouts;
  const options = {
    IncomingMessage: AppRequest,
    ServerResponse: AppResponse,
    maxHeaderSize: MAX_HEAD_BYTES,
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: Math.min(CHECK_MS, Math.ceil(headersMs / 4)),
  };
  const server = createServer(options, app);
  // Above this count Node drops headers, even Content-Length; their size is bounded anyway.
  server.maxHeadersCount = 0;
  const pendingResponse = trackPendingResponses(server);
  closeWithLinger(server);
  closeIdleConnections(server, { idleMs, stallMs }, pendingResponse);
  server.on("clientError", (error, socket) => handleClientError(error, socket as Socket, pendingResponse));
  server.on("connect", (_request, stream) => {
    const socket = stream as Socket;
    afterPendingResponses({ socket, pendingResponse }, () => sendRaw(socket, unknownMethodError()));
  });
  return server;
}

type ClientError = NodeJS.ErrnoException & {
  readonly rawPacket?: Uint8Array;
  /** How far the parser got in it. */
  readonly bytesParsed?: number;
};

/** Connections whose parse error is handled; further errors of the same connection are ignored. */
const broken = new WeakSet<Duplex>();

function handleClientError(error: ClientError, socket: Socket, pendingResponse: PendingResponse): void {
  if (isLingering(socket)) return;
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  if (broken.has(socket)) return;
  broken.add(socket);
  const isHead = requestLineOf(error).startsWith("HEAD ");
  const connection = { socket, pendingResponse };
  afterPendingResponses(connection, () => sendRaw(socket, describeBrokenHttp(error), { isHead }));
}

/**
 * Calls back when the earlier requests have their responses: raw text in between would corrupt them. The sweep of idle
 * connections cuts a client that does not read its responses.
 */
function afterPendingResponses(
  connection: { readonly socket: Socket; readonly pendingResponse: PendingResponse },
  then: () => void,
): void {
  const { socket, pendingResponse } = connection;
  if (!socket.writable) return;
  const pending = pendingResponse(socket);
  if (pending === undefined) then();
  // The server's own `finish` listener runs first and sets the next response.
  else pending.once("finish", () => afterPendingResponses(connection, then));
}

/** The first line of the malformed request, as far as the last packet holds it. */
function requestLineOf({ rawPacket, bytesParsed }: ClientError): string {
  if (rawPacket === undefined) return "";
  const text = Buffer.from(rawPacket).toString("latin1");
  // Well-formed requests may precede it.
  const headEnd = text.slice(0, bytesParsed ?? 0).lastIndexOf(HEAD_END);
  const start = headEnd === -1 ? 0 : headEnd + HEAD_END.length;
  const length = text.slice(start).search(/[\r\n]/);
  return length === -1 ? text.slice(start) : text.slice(start, start + length);
}

const HEAD_END = "\r\n\r\n";

/** Writes a whole response without a response object; without the body for HEAD. */
function sendRaw(socket: Duplex, error: ServiceError, { isHead = false } = {}): void {
  const { status, body } = toErrorBody(error, randomUUID());
  const text = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(text)}`,
    `X-Session-Id: ${body.session}`,
    "Cache-Control: no-store",
    "X-Content-Type-Options: nosniff",
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${isHead ? "" : text}`);
}

function unknownMethodError(): ServiceError {
  return new ServiceError("not_found", "No such method: the service answers GET and HEAD.");
}

function describeBrokenHttp(error: ClientError): ServiceError {
  const { code } = error;
  if (code === "HPE_HEADER_OVERFLOW") {
    return new ServiceError(
      "bad_request",
      `The request line and headers are larger than ${MAX_HEAD_BYTES / 1_024} KiB.`,
    );
  }
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return new ServiceError("request_timeout", "The request was not complete in time.");
  }
  // Deno has no codes for an unknown method or version: both runtimes are judged by the text.
  const start = requestLineOf(error);
  const method = /^([A-Za-z-]+) \S/.exec(start)?.[1];
  if (method !== undefined && !METHODS.includes(method)) {
    return unknownMethodError();
  }
  if (code === "HPE_INVALID_VERSION" || / HTTP\/(?!1\.[01]$)\d+(\.\d+)?$/.test(start)) {
    return versionNotSupported();
  }
  return new ServiceError("bad_request", "The request is not valid HTTP/1.1.");
}

/** Binds and returns the port (a free one for 0). Throws an error that names address and cause. */
export async function listen(server: Server, address: { host: string; port: number }): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    const fail = (cause: NodeJS.ErrnoException) => {
      // Without `cause`: loggers would print it a second time.
      const message = `Cannot listen for HTTP on ${address.host}:${address.port}: ${describeSystemError(cause)}`;
      reject(Object.assign(new Error(message), { code: cause.code }));
    };
    server.once("error", fail);
    server.listen(address.port, address.host, () => {
      server.off("error", fail);
      resolve();
    });
  });
  return (server.address() as AddressInfo).port;
}

const SWEEP_MS = 25;

/** Refuses new connections, lets requests in flight finish for at most `timeoutMs`, then closes the rest. */
export async function closeHttpServer(server: Server, options: { timeoutMs: number }): Promise<void> {
  if (!server.listening) return;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // A connection whose request has just finished is idle only now: close() alone would wait for its keep-alive time.
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
  const cut = setTimeout(() => server.closeAllConnections(), options.timeoutMs);
  server.closeIdleConnections();
  await closed;
  clearInterval(sweep);
  clearTimeout(cut);
}
