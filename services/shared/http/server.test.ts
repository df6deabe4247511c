import { Agent, IncomingMessage, request, ServerResponse } from "node:http";
import { connect } from "node:net";
import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import express from "express";
import { afterEach, describe, it } from "mocha";
import { handle } from "../service/handlers.ts";
import { listEndpoint, startTestApp, type TestApp, until } from "../testkit/fixture.ts";
import { closeHttpServer, createHttpServer, listen } from "./server.ts";

/** Everything a raw connection answers until it ends. */
function sendRaw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    let answer = "";
    socket.on("data", (chunk) => {
      answer += chunk;
    });
    socket.on("end", () => resolve(answer));
    socket.on("error", reject);
  });
}

describe("host/http-server", () => {
  let app: TestApp | undefined;
  afterEach(async () => {
    await app?.close();
    app = undefined;
  });
  const portOf = ({ url }: TestApp) => Number(new URL(url).port);

  it("makes requests and responses with Express's prototypes, so that none is set per request", async () => {
    const plain = express();
    const server = createHttpServer(plain);
    plain.get("/", (req, res) => {
      res.json({
        same: Object.getPrototypeOf(req) === plain.request && Object.getPrototypeOf(res) === plain.response,
        works: req.get("x-test") === "1" && typeof res.redirect === "function" && req.app === plain,
      });
    });
    let changed = 0;
    const original = Object.setPrototypeOf;
    const port = await listen(server, { host: "127.0.0.1", port: 0 });
    Object.setPrototypeOf = ((target: object, prototype: object | null) => {
      const ours = target instanceof IncomingMessage || target instanceof ServerResponse;
      if (ours && Object.getPrototypeOf(target) !== prototype) changed++;
      return original(target, prototype);
    }) as typeof Object.setPrototypeOf;
    try {
      const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { "x-test": "1" } });
      expect(await answer.json()).to.deep.equal({ same: true, works: true });
    } finally {
      Object.setPrototypeOf = original;
      await closeHttpServer(server, { timeoutMs: 100 });
    }
    expect(changed).to.equal(0);
  });

  it("sends the whole response where the client sends more after the request that closes the connection", async () => {
    const size = 1_048_576;
    const plain = express();
    const finished = new Promise<void>((resolve) => {
      plain.get("/", (_req, res) => {
        res.once("finish", resolve).set("Connection", "close").end("x".repeat(size));
      });
    });
    const server = createHttpServer(plain);
    const port = await listen(server, { host: "127.0.0.1", port: 0 });
    try {
      const socket = connect(port, "127.0.0.1");
      // Reads nothing yet: most of the response waits in the server's kernel.
      socket.pause();
      socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
      await finished;
      await setTimeout(100);
      for (let i = 0; i < 3; i++) {
        socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        await setTimeout(20);
      }
      let answer = "";
      for await (const chunk of socket) answer += chunk;
      expect(answer.split("HTTP/1.1 ").length - 1).to.equal(1);
      expect(answer.length - answer.indexOf("\r\n\r\n") - 4).to.equal(size);
    } finally {
      await closeHttpServer(server, { timeoutMs: 100 });
    }
  });

  it("answers broken HTTP in the one error shape", async () => {
    app = await startTestApp();
    const cases: [string, number, string][] = [
      ["GET /test/things HTTP/1.1\r\nHost: x\r\nbad header line\r\n\r\n", 400, "bad_request"],
      ["CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n", 404, "not_found"],
      ["BREW /test/things HTTP/1.1\r\nHost: x\r\n\r\n", 404, "not_found"],
      [`GET /test/things?x=${"a".repeat(60_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 400, "bad_request"],
    ];
    for (const [text, status, code] of cases) {
      const [head = "", body = ""] = (await sendRaw(portOf(app), text)).split("\r\n\r\n");
      expect(head.split(" ")[1], text.slice(0, 20)).to.equal(String(status));
      expect(head).to.contain("Content-Type: application/json");
      const session = /X-Session-Id: (\S+)/.exec(head)?.[1];
      expect(JSON.parse(body))
        .to.have.keys("error", "message", "session")
        .and.include({ error: code, session });
    }
  });

  it("refuses a body and an unsupported version, and closes the connection", async () => {
    app = await startTestApp();
    const cases: [string, number][] = [
      ["GET /test/things HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx", 400],
      ["OPTIONS /test/things HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx", 400],
      ["POST /livez HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400],
      ["GET /test/things HTTP/2.0\r\nHost: x\r\n\r\n", 505],
      ["GET /test/things HTTP/0.9\r\nHost: x\r\n\r\n", 505],
      ["GET /test/things HTTP/1.2\r\nHost: x\r\n\r\n", 505],
    ];
    for (const [text, status] of cases) {
      const answer = await sendRaw(portOf(app), `${text}GET /livez HTTP/1.1\r\nHost: x\r\n\r\n`);
      expect(answer.match(/HTTP\/1\.1 \d+/g), text).to.deep.equal([`HTTP/1.1 ${status}`]);
      const [head = "", body = ""] = answer.split("\r\n\r\n");
      expect(JSON.parse(body).session).to.equal(/X-Session-Id: (\S+)/.exec(head)?.[1]);
    }
  });

  it("says why it cannot listen", async () => {
    app = await startTestApp();
    const port = portOf(app);
    const failure = await listen(createHttpServer(express()), { host: "127.0.0.1", port }).catch(
      (error) => error,
    );
    expect(failure.message).to.equal(`Cannot listen for HTTP on 127.0.0.1:${port}: the port is in use`);
  });

  it("closes idle connections, finishes requests in flight and refuses new ones", async () => {
    let release = () => {};
    let entered = false;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow = handle(listEndpoint, async () => {
      entered = true;
      await held;
      return { rows: [["a", 1]] };
    });
    app = await startTestApp({ handlers: Object.fromEntries([slow]) });
    const agent = new Agent({ keepAlive: true });
    const get = (path: string) =>
      new Promise<number>((resolve, reject) => {
        request(`${app?.url}${path}`, { agent }, (response) => {
          response.resume().on("end", () => resolve(response.statusCode ?? 0));
        })
          .on("error", reject)
          .end();
      });
    expect(await get("/livez")).to.equal(200); // leaves an idle kept-alive connection
    const inFlight = get("/test/things");
    await until(() => entered);
    const closed = closeHttpServer(app.server, { timeoutMs: 60_000 });
    const refused = await fetch(`${app.url}/livez`).then(
      () => "answered",
      () => "refused",
    );
    expect(refused).to.equal("refused");
    release();
    expect(await inFlight).to.equal(200);
    await closed;
    agent.destroy();
  });

  it("cuts requests that outlast the drain", async () => {
    let entered = false;
    const stuck = handle(listEndpoint, () => {
      entered = true;
      return new Promise(() => {});
    });
    app = await startTestApp({ handlers: Object.fromEntries([stuck]) });
    const answer = fetch(`${app.url}/test/things`).catch(() => "cut");
    await until(() => entered);
    await closeHttpServer(app.server, { timeoutMs: 20 });
    expect(await answer).to.equal("cut");
  });
});
