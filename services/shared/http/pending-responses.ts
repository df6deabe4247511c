import { IncomingMessage, type Server, ServerResponse } from "node:http";
import { Socket } from "node:net";

/** Where node:http keeps the response that a connection is sending or will send next. */
type HttpSocket = Socket & { readonly _httpMessage?: ServerResponse | null };

/** The response that a connection has to send before any other; undefined while it is idle. */
export type PendingResponse = (socket: Socket) => ServerResponse | undefined;

/** Returns whether node:http still sets `_httpMessage`; tried on a response and a socket that belong to no client. */
export function supportsHttpMessage(
  createResponse: (req: IncomingMessage) => ServerResponse = (req) => new ServerResponse(req),
): boolean {
  const socket: HttpSocket = new Socket();
  const response = createResponse(new IncomingMessage(socket));
  response.assignSocket(socket);
  const isSet = socket._httpMessage === response;
  response.detachSocket(socket);
  const isCleared = !socket._httpMessage;
  socket.destroy();
  return isSet && isCleared;
}

let isChecked = false;

/**
 * Follows the pending response of each connection of a server. Reading Node's private field costs nothing; where Node has
 * changed it, events of requests and responses do, with one warning.
 */
export function trackPendingResponses(server: Server, isSupported = supportsHttpMessage()): PendingResponse {
  if (isSupported) return (socket: HttpSocket) => socket._httpMessage ?? undefined;
  if (!isChecked) {
    isChecked = true;
    process.emitWarning(
      `This version of Node (${process.version}) has no usable _httpMessage: connections are followed by events.`,
    );
  }
  const pending = new WeakMap<Socket, ServerResponse[]>();
  // Before the application: its own listeners of `finish` must find the next response.
  server.prependListener("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
    const responses = pending.get(socket);
    if (responses === undefined) pending.set(socket, [response]);
    else responses.push(response);
    const remove = (): void => {
      const queue = pending.get(socket) ?? [];
      const at = queue.indexOf(response);
      if (at >= 0) queue.splice(at, 1);
    };
    response.once("finish", remove);
    response.once("close", remove);
  });
  return (socket) => pending.get(socket)?.[0];
}
