import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { NodeChain } from "./node-chain.ts";
import { acceptSocket, type TextSocket } from "./websocket.ts";

/** slotSubscribe and slotUnsubscribe; undefined where the request opens no WebSocket. */
export function serveSubscriptions(
  chain: NodeChain,
  request: IncomingMessage,
  stream: Duplex,
): TextSocket | undefined {
  const subscriptions = new Set<number>();
  let nextId = 1;
  const stop = chain.onSlot(({ slot, parent, root }) => {
    const result = { slot, parent, root };
    for (const subscription of subscriptions)
      notify({ method: "slotNotification", params: { result, subscription } });
  });
  const socket = acceptSocket(request, stream, { text: handleMessage, end: stop });
  if (socket === undefined) stop();

  function notify(message: Record<string, unknown>): void {
    socket?.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
  }

  function handleMessage(text: string): void {
    const { id, method, params } = parseJson(text) ?? {};
    if (method === "slotSubscribe") {
      subscriptions.add(nextId);
      notify({ id, result: nextId++ });
    } else if (method === "slotUnsubscribe") {
      notify({ id, result: subscriptions.delete(params?.[0]) });
    } else notify({ id, error: { code: -32601, message: "Method not found" } });
  }

  return socket;
}

/** Whatever a client sent; undefined where it is no JSON. */
// biome-ignore lint/suspicious/noExplicitAny: it may be anything.
export function parseJson(text: string): any {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
