import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface RpcCall {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

export interface RpcReply {
  readonly id: unknown;
  result?: unknown;
}

/** A node whose replies a test alters: `alter` is given each call with its reply, which it may change. */
export async function startAlteredNode(
  target: string,
  alter: (call: RpcCall, reply: RpcReply) => void,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const headers = { "content-type": "application/json" };
    const answer = await fetch(target, { method: "POST", headers, body });
    const replies = [await answer.json()].flat() as RpcReply[];
    for (const call of [JSON.parse(body)].flat() as RpcCall[]) {
      const reply = replies.find(({ id }) => id === call.id);
      if (reply !== undefined) alter(call, reply);
    }
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(body.startsWith("[") ? replies : replies[0]));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
