import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { afterEach, describe, it } from "mocha";
import {
  checkDeliveries,
  type DeliveryOutcome,
  type DeliveryWatchOptions,
  isConnectionBroken,
  watchDelivery,
} from "./delivery-outcome.ts";
import { keyOf, openSendQueue, type TcpEndpoints } from "./send-queue.ts";

const isDeno = "Deno" in globalThis;
const KB = 1_024;
/** More than the kernels of both sides hold. */
const LARGE = 24_000 * KB;

interface Answered {
  readonly outcomes: DeliveryOutcome[];
  readonly check: () => Promise<void>;
  /** As an access log would judge it when the response closes. */
  cutOff: boolean | undefined;
}

describe("delivery outcome", () => {
  let server: Server;
  let client: Socket;
  /** Bytes that the client takes. */
  let count = 0;
  const answered: Answered[] = [];

  afterEach(() => {
    client?.destroy();
    server?.closeAllConnections();
    server?.close();
    answered.length = 0;
  });

  /** Starts the server; returns its port. */
  const listen = async (handle: (req: IncomingMessage, res: ServerResponse) => void) => {
    server = createServer(handle);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return (server.address() as AddressInfo).port;
  };
  /** A server with responses of so many bytes, or of so many for each request in turn. */
  const serve = (bytes: number | readonly number[], resetWindowMs = 5_000) =>
    listen((req, res) => {
      const outcomes: DeliveryOutcome[] = [];
      const { check } = watchDelivery(
        { req, res },
        { onOutcome: (one) => void outcomes.push(one), resetWindowMs },
      );
      const one: Answered = { outcomes, check, cutOff: undefined };
      const place = answered.push(one) - 1;
      res.on("close", () => {
        one.cutOff = isConnectionBroken(req.socket);
      });
      const size = typeof bytes === "number" ? bytes : (bytes[place] ?? 0);
      res.setHeader("Content-Length", size);
      res.end(Buffer.alloc(size, 97));
    });
  /** A response of so many bytes, of which a queue of the test's own tells. */
  const answerWith = (
    openQueue: Required<DeliveryWatchOptions>["openQueue"],
    exchange: { req: IncomingMessage; res: ServerResponse },
    bytes = 1 * KB,
  ) => {
    const outcomes: DeliveryOutcome[] = [];
    const onOutcome = (one: DeliveryOutcome) => void outcomes.push(one);
    const { check } = watchDelivery(exchange, { onOutcome, openQueue });
    answered.push({ outcomes, check, cutOff: undefined });
    exchange.res.end(Buffer.alloc(bytes));
  };
  const requestText = (more = "") => `GET / HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
  const outcomesOf = (place = 0) => (answered[place]?.outcomes ?? []).map(({ kind }) => kind);
  const until = async (condition: () => boolean) => {
    while (!condition()) await sleep(5);
  };
  /** Connects, sends the request, and takes exactly so many bytes from the kernel. */
  const take = async (port: number, bytes: number, request = requestText()) => {
    let taken = 0;
    count = bytes;
    await new Promise<void>((resolve) => {
      const buffer = Buffer.alloc(64 * KB);
      client = connect({
        port,
        host: "127.0.0.1",
        allowHalfOpen: true,
        onread: {
          buffer: () => buffer.subarray(0, Math.max(1, Math.min(buffer.length, count - taken))),
          callback(some) {
            taken += some;
            if (taken < count) return true;
            resolve();
            return false;
          },
        },
      });
      client.on("error", () => {});
      client.once("connect", () => client.write(request));
    });
  };
  const rest = async () => {
    count = Number.POSITIVE_INFINITY;
    const closed = new Promise((resolve) => client.once("close", resolve));
    client.resume();
    await closed;
  };

  for (const size of [1 * KB, 200 * KB, LARGE]) {
    it(`is delivered when a client has read all of ${size} bytes, whether it keeps or ends its connection`, async () => {
      for (const more of ["", "Connection: close\r\n"]) {
        const port = await serve(size);
        const length = (await measureHead(port, more)) + size;
        answered.length = 0;
        await take(port, length, requestText(more));
        await until(() => outcomesOf().length > 0);
        client.end();
        await sleep(50);
        expect(outcomesOf()).to.deep.equal(["delivered"]);
        expect(answered[0]?.cutOff).to.equal(false);
        client.destroy();
        server.closeAllConnections();
        server.close();
      }
    });

    it(`is aborted when a connection is reset in the middle of ${size} bytes`, async () => {
      const port = await serve(size);
      await take(port, size >> 1);
      // Bytes in the kernel of a client that does not read look delivered until it resets.
      if (size < 100 * KB) await until(() => outcomesOf().at(-1) === "delivered");
      else await sleep(50);
      client.resetAndDestroy();
      await until(() => outcomesOf().at(-1) === "aborted");
      if (size === LARGE) {
        expect(answered[0]?.cutOff).to.equal(true);
        expect(answered[0]?.outcomes).to.have.length(1);
      }
    });
  }

  it("is aborted when a client closes with something unread, and at once when it is checked", async () => {
    const port = await serve(20 * KB);
    await take(port, 4 * KB);
    await until(() => outcomesOf().length > 0);
    client.destroy();
    await sleep(2);
    await answered[0]?.check();
    expect(outcomesOf()).to.deep.equal(["delivered", "aborted"]);
  });

  it("is undecided while the peer does not acknowledge, and says how much is left when it gives up", async () => {
    const port = await serve(3_000 * KB);
    await take(port, 10 * KB);
    await sleep(300);
    await answered[0]?.check();
    expect(outcomesOf()).to.deep.equal([]);
    client.resetAndDestroy();
    await until(() => outcomesOf().length > 0);
    const [outcome] = answered[0]?.outcomes ?? [];
    expect(outcome).to.include({ kind: "aborted" });
    expect((outcome as { bytesLeft: number }).bytesLeft).to.be.within(1, 3_000 * KB);
  });

  it("is delivered to a client that ends its side and reads on, aborted for one that then resets", async () => {
    const port = await serve([LARGE, LARGE, 1_000 * KB]);
    await take(port, 64 * KB);
    client.end();
    await sleep(20);
    // Deno gives up a connection whose client has ended its side: nothing is lost but a free table.
    if (!isDeno) expect(outcomesOf()).to.deep.equal([]);
    await rest();
    await until(() => outcomesOf().length > 0);
    expect(outcomesOf()).to.deep.equal([isDeno ? "aborted" : "delivered"]);
    await take(port, 32 * KB);
    client.end();
    await sleep(30);
    client.resetAndDestroy();
    await until(() => outcomesOf(1).length > 0);
    expect(outcomesOf(1)).to.deep.equal(["aborted"]);
    // All of it is in the client's kernel, and is not read to the end.
    await take(port, 32 * KB);
    client.end();
    await sleep(100);
    count = 990 * KB;
    client.resume();
    await until(() => outcomesOf(2).length > 0);
    client.resetAndDestroy();
    await until(() => outcomesOf(2).at(-1) === "aborted");
  });

  it("distinguishes the responses of one connection", async () => {
    const port = await serve([10 * KB, LARGE, 10 * KB]);
    // Both at once: the second answer is cut, and the first one may not have been read.
    await take(port, 100 * KB, requestText() + requestText());
    // Deno does not say how much of a write the kernel has taken: there the first one waits for the second.
    if (!isDeno) {
      await until(() => outcomesOf(0).length > 0);
      expect(outcomesOf(0)).to.deep.equal(["delivered"]);
    }
    client.resetAndDestroy();
    await until(() => outcomesOf(0).length > 0 && outcomesOf(1).length > 0);
    expect(outcomesOf(1)).to.deep.equal(["aborted"]);
  });

  it("stays delivered once the client has sent another request on the connection, which breaks later", async () => {
    const port = await serve([10 * KB, LARGE]);
    await take(port, 64);
    await until(() => outcomesOf(0).length > 0);
    client.write(requestText());
    await until(() => answered.length === 2);
    client.resetAndDestroy();
    await until(() => outcomesOf(1).length > 0);
    expect([...outcomesOf(0), ...outcomesOf(1)]).to.deep.equal(["delivered", "aborted"]);
  });

  it("stays delivered where a reset comes after the window", async () => {
    const port = await serve(10 * KB, 50);
    await take(port, 5 * KB);
    await until(() => outcomesOf().length > 0);
    await sleep(300);
    client.resetAndDestroy();
    await sleep(50);
    expect(outcomesOf()).to.deep.equal(["delivered"]);
  });

  it("uses the socket alone where the system shows no queue", async () => {
    const openQueue = () => ({ read: async () => "unknown" as const, isListed: false });
    const port = await listen((req, res) =>
      answerWith(openQueue, { req, res }, answered.length === 0 ? 10 * KB : LARGE),
    );
    await take(port, 1 * KB);
    await until(() => outcomesOf(0).length > 0);
    expect(outcomesOf(0)).to.deep.equal(["delivered"]);
    client.destroy();
    await take(port, 64 * KB);
    client.resetAndDestroy();
    await until(() => outcomesOf(1).length > 0);
    expect(outcomesOf(1)).to.deep.equal(["aborted"]);
  });

  for (const isChecked of [false, true]) {
    const when = isChecked ? "at a check of its handler" : "a little later";
    it(`stays delivered where that was known only after the next request, ${when}, which was then aborted`, async () => {
      let unacknowledged = 100;
      const port = await listen((req, res) => {
        if (answered.length === 0)
          return answerWith(() => ({ read: async () => unacknowledged, isListed: true }), { req, res });
        // The second request has no response.
        answered.push({ outcomes: [], check: async () => {}, cutOff: undefined });
        if (isChecked) void checkDeliveries(req.socket);
      });
      await take(port, 1 * KB);
      // By then it looks four times a second.
      if (isChecked) await sleep(600);
      expect(outcomesOf()).to.deep.equal([]);
      if (isChecked) unacknowledged = 0;
      client.write(requestText());
      await until(() => answered.length === 2);
      unacknowledged = 0;
      if (isChecked) await sleep(10);
      else await until(() => outcomesOf().length > 0);
      client.resetAndDestroy();
      await sleep(100);
      expect(outcomesOf()).to.deep.equal(["delivered"]);
    });
  }

  it("is known at a check once everything is acknowledged, between two looks, and can still be revoked", async () => {
    let unacknowledged = 100;
    const port = await listen((req, res) =>
      answerWith(() => ({ read: async () => unacknowledged, isListed: true }), { req, res }),
    );
    await take(port, 10);
    // By now it looks four times a second.
    await sleep(600);
    await answered[0]?.check();
    expect(outcomesOf()).to.deep.equal([]);
    unacknowledged = 0;
    await answered[0]?.check();
    expect(outcomesOf()).to.deep.equal(["delivered"]);
    client.resetAndDestroy();
    await until(() => outcomesOf().length > 1);
    expect(outcomesOf()).to.deep.equal(["delivered", "aborted"]);
  });

  it("is aborted for the first client of a server that leaves before the first byte", async () => {
    const port = await listen((req, res) => {
      const outcomes: DeliveryOutcome[] = [];
      const { check } = watchDelivery({ req, res }, { onOutcome: (one) => void outcomes.push(one) });
      answered.push({ outcomes, check, cutOff: undefined });
      // The client's kernel resets the connection for what comes now. A socket that has read to the end is not told.
      req.socket.once("end", () => setTimeout(() => res.end(Buffer.alloc(1 * KB)), 20));
    });
    client = connect(port, "127.0.0.1", () => client.write(requestText()));
    await until(() => answered.length > 0);
    client.destroy();
    await until(() => outcomesOf().length > 0);
    await sleep(100);
    expect(outcomesOf()).to.deep.equal(["aborted"]);
  });

  for (const isListed of [true, false]) {
    const verdict = isListed
      ? "aborted where the system shows the others of its listener"
      : "delivered where it shows none";
    it(`of a connection that its table lacks before the first look is ${verdict}`, async () => {
      const port = await listen((req, res) =>
        answerWith(() => ({ read: async () => "gone" as const, isListed }), { req, res }),
      );
      await take(port, 10);
      await until(() => outcomesOf(0).length > 0);
      expect(outcomesOf(0)).to.deep.equal([isListed ? "aborted" : "delivered"]);
    });
  }

  /** Bytes of the head of an answer. */
  const measureHead = async (port: number, more = "") => {
    const text = await new Promise<string>((resolve) => {
      const probe = connect(port, "127.0.0.1", () => probe.write(requestText(more)));
      probe.on("error", () => {});
      probe.once("data", (chunk) => {
        probe.destroy();
        resolve(chunk.toString("latin1"));
      });
    });
    return text.indexOf("\r\n\r\n") + 4;
  };
});

describe("send queue", () => {
  it("believes that a connection is gone when five readings of the table have left it out", async () => {
    const socket = { localAddress: "127.0.0.1", localPort: 1, remoteAddress: "127.0.0.1", remotePort: 2 };
    const line = `0: ${keyOf(socket as TcpEndpoints)} 01 0000000A:00000000`;
    // The first three are read when the queue is opened.
    const tables = [...Array<string>(3 + 4).fill("other"), line];
    const queue = openSendQueue(socket as TcpEndpoints, async () => tables.shift() ?? "other");
    const isLinux = process.platform === "linux";
    expect(await queue.read()).to.equal(isLinux ? 10 : "unknown");
    expect(await queue.read()).to.equal(isLinux ? "gone" : "unknown");
  });

  it("finds a listener's first connection where the kernel skips its line once, though it is gone when it is read", async () => {
    const socket = { localAddress: "10.9.8.7", localPort: 6_543, remoteAddress: "10.0.0.1", remotePort: 2 };
    const tables = ["other", ` ${keyOf(socket as TcpEndpoints)} 01 0000000A:00000000`];
    const queue = openSendQueue(socket as TcpEndpoints, async () => tables.shift() ?? "other");
    const isLinux = process.platform === "linux";
    expect(await queue.read()).to.equal(isLinux ? "gone" : "unknown");
    expect(queue.isListed).to.equal(isLinux);
  });

  it("is read for the connection alone, in either family", async () => {
    for (const host of ["127.0.0.1", "::1"]) {
      let served: Socket | undefined;
      const server = createServer();
      server.on("connection", (socket) => {
        served = socket;
      });
      const isThere = await new Promise<boolean>((resolve) => {
        server.once("error", () => resolve(false));
        server.listen(0, "::", () => resolve(true));
      });
      if (!isThere) return;
      const client = connect((server.address() as AddressInfo).port, host);
      client.on("error", () => {});
      while (served === undefined) await sleep(2);
      const queue = openSendQueue(served);
      expect(await queue.read()).to.equal(process.platform === "linux" ? 0 : "unknown");
      client.pause();
      served.write(Buffer.alloc(LARGE));
      await sleep(100);
      if (process.platform === "linux") expect(await queue.read()).to.be.above(0);
      client.destroy();
      served.destroy();
      await sleep(50);
      expect(await queue.read()).to.equal(process.platform === "linux" ? "gone" : "unknown");
      server.close();
    }
  });
});
