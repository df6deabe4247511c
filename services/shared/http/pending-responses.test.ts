import { createServer, type IncomingMessage, type Server, ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { expect } from "chai";
import { afterEach, describe, it } from "mocha";
import { supportsHttpMessage, trackPendingResponses } from "./pending-responses.ts";

/** As a Node that keeps the response elsewhere. */
class MovedResponse extends ServerResponse {
  override assignSocket(): void {}
  override detachSocket(): void {}
}

describe("pending responses of a connection", () => {
  const servers: Server[] = [];
  const clients: Socket[] = [];
  afterEach(() => {
    for (const client of clients.splice(0)) client.destroy();
    for (const server of servers.splice(0)) server.close().closeAllConnections();
  });

  it("are in node:http's own field on Node and Deno, and not where it has changed", () => {
    expect(supportsHttpMessage()).to.equal(true);
    expect(supportsHttpMessage((req) => new MovedResponse(req))).to.equal(false);
  });

  for (const isSupported of [true, false]) {
    it(`are found one after the other ${isSupported ? "by the field" : "by events"}, and none when idle`, async () => {
      const server = createServer();
      servers.push(server);
      const pendingResponse = trackPendingResponses(server, isSupported);
      const received: { req: IncomingMessage; res: ServerResponse }[] = [];
      const bothReceived = new Promise<void>((resolve) => {
        server.on("request", (req: IncomingMessage, res: ServerResponse) => {
          received.push({ req, res });
          if (received.length === 2) resolve();
        });
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
      clients.push(client);
      client.resume();
      client.write("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n");
      await bothReceived;
      const [first, second] = received as [(typeof received)[0], (typeof received)[0]];
      const { socket } = first.req;
      expect(pendingResponse(socket)).to.equal(first.res);
      for (const [sent, next] of [
        [first.res, second.res],
        [second.res, undefined],
      ] as const) {
        const found = new Promise((resolve) => sent.once("finish", () => resolve(pendingResponse(socket))));
        sent.end("ok");
        expect(await found).to.equal(next);
      }
    });
  }
});
