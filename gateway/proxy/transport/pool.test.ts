import type { AddressInfo } from "node:net";
import { createServer, type Server, type Socket } from "node:net";
import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { until } from "../../testkit/until.ts";
import { ConnectFailed, ConnectionBroken, InvalidResponse } from "./errors.ts";
import { createPool, type Pool } from "./pool.ts";
import {
  type ReceiveOptions,
  type ResponseListener,
  ResponseReceiver,
  type UpstreamResponse,
} from "./response-receiver.ts";
import type { StreamedBody } from "./streamed-body.ts";

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const WHOLE: ReceiveOptions = { maxBufferedBytes: 1_000, overflow: "stream", maxSilenceMs: 5_000 };

describe("transport: pool of connections", () => {
  let server: Server;
  let pool: Pool;
  let sockets: Socket[];
  let onRequest: (socket: Socket, text: string) => void;
  const port = () => (server.address() as AddressInfo).port;
  const send = (options = WHOLE) => {
    let listener: ResponseListener | undefined;
    const received = new Promise<UpstreamResponse>((resolve, reject) => {
      listener = { onResponse: resolve, onError: reject };
    });
    const request = { target: "/a", headers: {}, options };
    const receiver = new ResponseReceiver(pool, request, listener as ResponseListener);
    pool.send(receiver);
    return { received, abort: () => receiver.abort() };
  };
  const failureOf = (receiver: ReturnType<typeof send>) =>
    receiver.received.then(
      () => "none",
      (error: unknown) => error,
    );

  beforeEach(async () => {
    sockets = [];
    onRequest = (socket) => void socket.write(OK);
    server = createServer((socket) => {
      sockets.push(socket);
      socket.on("error", () => {});
      socket.on("data", (chunk) => onRequest(socket, chunk.toString()));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    pool = createPool({ origin: `http://127.0.0.1:${port()}`, maxConnections: 2 });
  });
  afterEach(async () => {
    pool.close();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  it("reuses connections, and opens no more than its maximum", async () => {
    const responses = await Promise.all(Array.from({ length: 20 }, () => send().received));
    expect(responses.map(({ body }) => String(body))).to.deep.equal(Array(20).fill("ok"));
    expect(sockets).to.have.length(2);
  });

  it("opens another connection after one that was closed, and reports a closed one as ConnectionBroken", async () => {
    await send().received;
    for (const socket of sockets) socket.destroy();
    await until(() => sockets.every((socket) => socket.destroyed));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(String((await send().received).body)).to.equal("ok");
    onRequest = (socket) => void socket.destroy();
    expect(await failureOf(send())).to.be.instanceOf(ConnectionBroken);
    onRequest = (socket) => void socket.end("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab");
    expect(await failureOf(send())).to.be.instanceOf(ConnectionBroken);
  });

  it("does not reuse a connection that its response closes", async () => {
    onRequest = (socket) => void socket.write(OK.replace("Content", "Connection: close\r\nContent"));
    await send().received;
    await send().received;
    expect(sockets).to.have.length(2);
  });

  it("reports a port without a listener as ConnectFailed", async () => {
    await new Promise((resolve) => server.close(resolve));
    expect(await failureOf(send())).to.be.instanceOf(ConnectFailed);
    server = createServer().listen(0, "127.0.0.1");
  });

  it("rejects a connection that sends more than was requested", async () => {
    onRequest = (socket) => void socket.write(`${OK}HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil`);
    expect(await failureOf(send())).to.be.instanceOf(InvalidResponse);
    onRequest = (socket) => void socket.write(OK);
    const { body } = await send().received;
    expect(String(body)).to.equal("ok");
    // Bytes that come without a request are dropped with their connection.
    const [socket] = sockets.slice(-1);
    socket?.write(OK.replace("ok", "no"));
    await until(() => socket?.destroyed === true || socket?.readableEnded === true);
    expect(String((await send().received).body)).to.equal("ok");
  });

  it("reads heads and bodies in any pieces, and skips interim responses", async () => {
    onRequest = async (socket) => {
      const text = `HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${OK}`;
      for (const letter of text) {
        socket.write(letter);
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    const { status, body } = await send().received;
    expect(status).to.equal(200);
    expect(String(body)).to.equal("ok");
  });

  it("closes the connection of an aborted request, and only that", async () => {
    onRequest = () => {};
    const stuck = send();
    const other = send();
    const queued = send();
    await until(() => sockets.length === 2);
    queued.abort();
    stuck.abort();
    await until(() => sockets.some((socket) => socket.destroyed));
    for (const socket of sockets) if (!socket.destroyed) socket.write(OK);
    expect(String((await other.received).body)).to.equal("ok");
    other.abort();
    onRequest = (socket) => void socket.write(OK);
    expect(String((await send().received).body)).to.equal("ok");
    expect(sockets).to.have.length(2);
  });

  it("streams a long body at the reader's pace, and buffers little of it", async () => {
    const size = 8_000_000;
    onRequest = (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n`);
      socket.write(Buffer.alloc(size, "x"));
    };
    const { body } = (await send().received) as { body: StreamedBody };
    expect(body.byteLength).to.equal(size);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(body.readableLength).to.be.lessThan(500_000);
    let received = 0;
    for await (const piece of body) received += (piece as Buffer).length;
    expect(received).to.equal(size);
    onRequest = (socket) => void socket.write(OK);
    expect(String((await send().received).body)).to.equal("ok");
    expect(sockets).to.have.length(1);
  });

  it("ends a streamed body with an error when its connection breaks or falls silent", async () => {
    const drain = async (body: StreamedBody) => {
      for await (const _piece of body);
    };
    const start = `HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n${"x".repeat(2_000)}`;
    onRequest = (socket) => void socket.end(start);
    const broken = await drain((await send().received).body as StreamedBody).catch((error: unknown) => error);
    expect(broken).to.be.instanceOf(ConnectionBroken);
    onRequest = (socket) => void socket.write(start);
    const silent = send({ ...WHOLE, maxSilenceMs: 50 });
    const failure = await drain((await silent.received).body as StreamedBody).catch(
      (error: unknown) => error,
    );
    expect((failure as Error).message).to.equal("The service sent nothing for 50 ms");
    await until(() => sockets.at(-1)?.destroyed === true);
  });

  it("rejects a body above the buffer limit, and a long error", async () => {
    const long = "x".repeat(2_000);
    onRequest = (socket) => void socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n${long}`);
    expect(await failureOf(send({ ...WHOLE, overflow: "reject" }))).to.be.instanceOf(InvalidResponse);
    onRequest = (socket) => {
      socket.write("HTTP/1.1 500 x\r\nTransfer-Encoding: chunked\r\n\r\n");
      socket.write(`20000\r\n${"x".repeat(0x20000)}\r\n0\r\n\r\n`);
    };
    expect(await failureOf(send())).to.be.instanceOf(InvalidResponse);
  });
});
