import type { AddressInfo } from "node:net";
import { createServer, type Server, type Socket } from "node:net";
import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { until } from "../../testkit/until.ts";
import { BadHttp, BrokenOff, NotReached } from "./errors.ts";
import { createPool, type Pool } from "./pool.ts";
import {
  AnswerReceiver,
  type AnswerWaiter,
  type ReceivedAnswer,
  type ReceiveOptions,
} from "./response-receiver.ts";
import type { LiveBody } from "./streamed-body.ts";

const REQUEST = "GET /a HTTP/1.1\r\nhost: x\r\n\r\n";
const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const WHOLE: ReceiveOptions = { holdBytes: 1_000, beyond: "live", maxSilenceMs: 5_000 };

describe("transport: pool of connections", () => {
  let server: Server;
  let pool: Pool;
  let sockets: Socket[];
  let onRequest: (socket: Socket, text: string) => void;
  const port = () => (server.address() as AddressInfo).port;
  const send = (options = WHOLE) => {
    let waiter: AnswerWaiter | undefined;
    const received = new Promise<ReceivedAnswer>((resolve, reject) => {
      waiter = { resolve, reject };
    });
    const receiver = new AnswerReceiver(options, waiter as AnswerWaiter).sendOn(pool, REQUEST);
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

  it("uses a connection again, and no more of them than it may", async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => send().received));
    expect(answers.map(({ body }) => String(body))).to.deep.equal(Array(20).fill("ok"));
    expect(sockets).to.have.length(2);
  });

  it("opens another connection after one that was closed, and tells what a closed one means", async () => {
    await send().received;
    for (const socket of sockets) socket.destroy();
    await until(() => sockets.every((socket) => socket.destroyed));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(String((await send().received).body)).to.equal("ok");
    onRequest = (socket) => void socket.destroy();
    expect(await failureOf(send())).to.be.instanceOf(BrokenOff);
    onRequest = (socket) => void socket.end("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab");
    expect(await failureOf(send())).to.be.instanceOf(BrokenOff);
  });

  it("does not use a connection again that its answer closes", async () => {
    onRequest = (socket) => void socket.write(OK.replace("Content", "Connection: close\r\nContent"));
    await send().received;
    await send().received;
    expect(sockets).to.have.length(2);
  });

  it("tells a host where nobody listens from a connection that broke", async () => {
    await new Promise((resolve) => server.close(resolve));
    expect(await failureOf(send())).to.be.instanceOf(NotReached);
    server = createServer().listen(0, "127.0.0.1");
  });

  it("trusts no connection that says more than it was asked", async () => {
    onRequest = (socket) => void socket.write(`${OK}HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil`);
    expect(await failureOf(send())).to.be.instanceOf(BadHttp);
    onRequest = (socket) => void socket.write(OK);
    const { body } = await send().received;
    expect(String(body)).to.equal("ok");
    // What comes while nobody asks is dropped with its connection.
    const [socket] = sockets.slice(-1);
    socket?.write(OK.replace("ok", "no"));
    await until(() => socket?.destroyed === true || socket?.readableEnded === true);
    expect(String((await send().received).body)).to.equal("ok");
  });

  it("reads heads and bodies in any pieces, and passes over interim answers", async () => {
    onRequest = async (socket) => {
      const text = `HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${OK}`;
      for (const letter of text) {
        socket.write(letter);
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    const { head, body } = await send().received;
    expect(head.status).to.equal(200);
    expect(String(body)).to.equal("ok");
  });

  it("closes the connection of a request that is given up, and only that", async () => {
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

  it("hands on a long body at the reader's pace, and holds little of it", async () => {
    const size = 8_000_000;
    onRequest = (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n`);
      socket.write(Buffer.alloc(size, "x"));
    };
    const { body } = (await send().received) as { body: LiveBody };
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

  it("ends a long body with an error when its connection breaks or falls silent", async () => {
    const drain = async (body: LiveBody) => {
      for await (const _piece of body);
    };
    const start = `HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n${"x".repeat(2_000)}`;
    onRequest = (socket) => void socket.end(start);
    const broken = await drain((await send().received).body as LiveBody).catch((error: unknown) => error);
    expect(broken).to.be.instanceOf(BrokenOff);
    onRequest = (socket) => void socket.write(start);
    const silent = send({ ...WHOLE, maxSilenceMs: 50 });
    const failure = await drain((await silent.received).body as LiveBody).catch((error: unknown) => error);
    expect((failure as Error).message).to.equal("The service sent nothing for 50 ms");
    await until(() => sockets.at(-1)?.destroyed === true);
  });

  it("refuses a body that is longer than what must be held, and a long error", async () => {
    const long = "x".repeat(2_000);
    onRequest = (socket) => void socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n${long}`);
    expect(await failureOf(send({ ...WHOLE, beyond: "refuse" }))).to.be.instanceOf(BadHttp);
    onRequest = (socket) => {
      socket.write("HTTP/1.1 500 x\r\nTransfer-Encoding: chunked\r\n\r\n");
      socket.write(`20000\r\n${"x".repeat(0x20000)}\r\n0\r\n\r\n`);
    };
    expect(await failureOf(send())).to.be.instanceOf(BadHttp);
  });
});
