import { randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";
import { expect } from "chai";
import { afterEach, beforeEach, it } from "mocha";
import { describeThorough } from "../../services/shared/testkit/describe.ts";
import { expectErrorForm } from "../testkit/expect-error.ts";
import { BOOTSTRAP_KEY, startTestGateway, type TestGateway } from "../testkit/gateway.ts";
import { readAnswer } from "../testkit/raw-http.ts";
import { until } from "../testkit/until.ts";
import { mediaTypeOf } from "../testkit/upstream.ts";

const TIMEOUTS = { headersMs: 1_200, requestMs: 1_600, idleMs: 1_000, stallMs: 2_000 };
const PATH = "/evm/dexb/v3/pools";
const HEAD = `GET ${PATH} HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${BOOTSTRAP_KEY}\r\n`;
const DRIP_MS = 50;

/** A connection that a test writes to as slowly as it likes. */
interface SlowClient {
  readonly socket: Socket;
  /** Everything received so far. */
  readonly text: () => string;
  readonly isClosed: () => boolean;
}

describeThorough("gateway: slow clients", () => {
  let gateway: TestGateway;
  const clients: SlowClient[] = [];
  beforeEach(async () => {
    gateway = await startTestGateway({ config: { deadlineMs: 20_000 }, parts: { httpTimeouts: TIMEOUTS } });
  });
  afterEach(async () => {
    for (const { socket } of clients.splice(0)) socket.destroy();
    await gateway.stop();
  });

  const open = (): SlowClient => {
    const { hostname, port } = new URL(gateway.url);
    const chunks: Buffer[] = [];
    let isClosed = false;
    const socket = connect(Number(port), hostname);
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("error", () => {});
    socket.on("close", () => (isClosed = true));
    const client = { socket, text: () => Buffer.concat(chunks).toString("latin1"), isClosed: () => isClosed };
    clients.push(client);
    return client;
  };
  /** Sends a text, and then one piece after the other for as long as it may. */
  const drip = (text: string, piece: string): SlowClient => {
    const client = open();
    client.socket.write(text);
    const timer = setInterval(() => {
      if (client.socket.writable) client.socket.write(piece);
    }, DRIP_MS);
    client.socket.once("close", () => clearInterval(timer));
    return client;
  };
  const expectRefusal = ({ text }: SlowClient, code: "request_timeout" | "bad_request" | "not_found") => {
    const { status, headers, body } = readAnswer(text());
    expectErrorForm({ status, body, type: headers["content-type"], session: headers["x-session-id"] }, code);
    expect(headers.connection).to.equal("close");
  };
  const isServing = async () => (await gateway.get("/evm/chains")).status === 200;

  it("that never end their head, or send nothing at all, get 408 and are closed; others are served meanwhile", async () => {
    const slow = Array.from({ length: 100 }, () => drip(HEAD, "X-A: b\r\n"));
    const letters = drip("GET /evm/chains HTTP/1.1\r\nX-", "a");
    const silent = open();
    const all = [...slow, letters, silent];
    while (!all.every(({ isClosed }) => isClosed())) expect(await isServing()).to.equal(true);
    for (const client of all) expectRefusal(client, "request_timeout");
    expect(gateway.evmDex.seen.every(({ url }) => url === "/evm/chains")).to.equal(true);
  });

  it("that send a body bit by bit are refused for having one, at once", async () => {
    const withLength = drip(`${HEAD}Content-Length: 1000000\r\n\r\n`, "x");
    const chunked = drip(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`, "1\r\nx\r\n");
    const posted = drip(`${HEAD.replace("GET", "POST")}Content-Length: 1000000\r\n\r\n`, "x");
    await until(() => [withLength, chunked, posted].every(({ isClosed }) => isClosed()));
    expectRefusal(withLength, "bad_request");
    expectRefusal(chunked, "bad_request");
    expectRefusal(posted, "bad_request");
    expect(gateway.evmDex.seen).to.have.length(0);
  });

  it("that send no further request are closed", async () => {
    const client = open();
    client.socket.write(`${HEAD.replace(PATH, "/evm/chains")}\r\n`);
    await until(() => client.isClosed());
    expect(readAnswer(client.text()).status).to.equal(200);
  });

  it("are not those that send request after request on one connection", async () => {
    const client = open();
    const count = () => client.text().split("HTTP/1.1 200").length - 1;
    for (let sent = 1; sent <= 5; sent += 1) {
      client.socket.write(`${HEAD.replace(PATH, "/evm/chains")}\r\n`);
      await until(() => count() === sent);
      await new Promise((resolve) => setTimeout(resolve, TIMEOUTS.idleMs / 2));
    }
    expect(client.isClosed()).to.equal(false);
  });

  it("that do not read a long answer are cut, and the service is free for others", async () => {
    let closed = 0;
    gateway.evmDex.answer = (req, res) => {
      res.writeHead(200, { "Content-Type": mediaTypeOf(req.url ?? ""), "Transfer-Encoding": "chunked" });
      // No coding makes it shorter.
      const page = randomBytes(1_000_000);
      const more = () => {
        while (!res.destroyed && res.write(page));
        if (!res.destroyed) res.once("drain", more);
      };
      more();
      res.on("close", () => (closed += 1));
    };
    const readers = ["", "Accept-Encoding: gzip\r\n"].map((encoding) => {
      const client = open();
      client.socket.pause();
      client.socket.write(`${HEAD}${encoding}\r\n`);
      return client;
    });
    await until(() => closed === readers.length);
    await until(
      () => gateway.lines.filter(({ route, status }) => route === PATH && status === 499).length === 2,
    );
  });

  it("that do not read the responses to requests in a row are cut, too", async () => {
    const table = Buffer.from(`[{"columns":[],"data":[["${"x".repeat(900_000)}"]],"rows":1}]`);
    gateway.evmDex.answer = (req, res) => {
      res.writeHead(200, { "Content-Type": mediaTypeOf(req.url ?? ""), "Content-Length": table.length });
      res.end(table);
    };
    const client = open();
    client.socket.pause();
    // More than systems keep for a connection.
    client.socket.write(`${HEAD}\r\n`.repeat(60));
    // The system notes at the first check that nothing has moved, and reports it at the second.
    await new Promise((resolve) => setTimeout(resolve, 4 * TIMEOUTS.stallMs));
    client.socket.resume();
    await until(() => client.isClosed());
    expect(client.text().length).to.be.below(30 * table.length);
  });

  it("are not those who wait for a slow service", async () => {
    gateway.evmDex.answer = async (req, res) => {
      await new Promise((resolve) => setTimeout(resolve, 2 * TIMEOUTS.stallMs));
      res.writeHead(200, { "Content-Type": mediaTypeOf(req.url ?? ""), "Content-Length": 2 }).end("[]");
    };
    const answer = await gateway.get(PATH);
    expect(answer.status).to.equal(200);
    expect(await answer.text()).to.equal("[]");
  });
});
