import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { expectError } from "../testkit/expect-error.ts";
import {
  BOOTSTRAP_KEY,
  startTestGateway,
  type TestGateway,
  type TestGatewayOptions,
} from "../testkit/gateway.ts";
import { rawGet } from "../testkit/raw-http.ts";
import { until } from "../testkit/until.ts";
import { answerError, answerTable, TABLE_TEXT } from "../testkit/upstream.ts";

describe("gateway: proxy", () => {
  let gateway: TestGateway;
  const start = async (options: TestGatewayOptions = {}) => {
    gateway = await startTestGateway(options);
    return gateway;
  };
  afterEach(() => gateway.stop());

  describe("with one replica", () => {
    beforeEach(() => start());

    it("passes path and query to the service of the family as they are, and its table back", async () => {
      const target = "/evm/dexb/v3/pool?pool_address=0xAb&x=%2F%2e%20+'\"{}|\\^`<>&&=&x=1";
      const answer = await rawGet(gateway.url, `${target}#fragment`, { "X-API-KEY": BOOTSTRAP_KEY });
      expect(answer.status).to.equal(200);
      expect(answer.body).to.equal(TABLE_TEXT);
      expect(gateway.evmDex.seen.map((request) => request.url)).to.deep.equal([target]);
      expect(gateway.lending.seen).to.have.length(0);
    });

    it("passes the headers that describe the data unchanged, and none that describe the service", async () => {
      gateway.evmDex.answer = (req, res) => {
        res.setHeader("Server", "inside");
        res.setHeader("Set-Cookie", "a=b");
        res.setHeader("X-Powered-By", "Express");
        res.setHeader("X-Session-Id", "another");
        res.setHeader("X-Ignored-Parameters", "foo");
        answerTable(req, res);
      };
      const { headers } = await gateway.get("/evm/chains?foo=1");
      expect(headers.get("etag")).to.equal('W/"v7"');
      expect(headers.get("cache-control")).to.equal("private, max-age=1");
      expect(headers.get("content-type")).to.equal("application/vnd.service.table.v1.0.0+json");
      expect(headers.get("x-data-block")).to.equal("7");
      expect(headers.get("x-ignored-parameters")).to.equal("foo");
      for (const name of ["server", "set-cookie", "x-powered-by"])
        expect(headers.get(name), name).to.equal(null);
      expect(headers.get("x-session-id")).to.match(/^[0-9a-f-]{36}$/);
    });

    it("adds no charset to application/json", async () => {
      const { headers } = await gateway.get("/api/v1/solana/tokens");
      expect(headers.get("content-type")).to.equal("application/json");
    });

    it("passes on the service's 304 with its ETag", async () => {
      gateway.evmDex.answer = (req, res) => {
        const isKnown = req.headers["if-none-match"] === 'W/"v7"';
        const data = { "X-Data-Block": "7", "X-Data-Stale": "prices; age=7" };
        if (isKnown) res.writeHead(304, { ETag: 'W/"v7"', Connection: "close", ...data }).end();
        else answerTable(req, res);
      };
      const answer = await gateway.get("/evm/chains", { headers: { "If-None-Match": 'W/"v7"' } });
      expect(answer.status).to.equal(304);
      expect(answer.headers.get("etag")).to.equal('W/"v7"');
      expect(answer.headers.get("x-data-block")).to.equal("7");
      expect(answer.headers.get("x-data-stale")).to.equal("prices; age=7");
      expect(answer.headers.get("access-control-expose-headers")).to.contain("X-Data-Stale");
      expect(answer.headers.get("connection")).not.to.equal("close");
      expect(await answer.text()).to.equal("");
    });

    it("answers HEAD with the head of GET: same length, no body", async () => {
      const head = await gateway.get("/evm/chains", { method: "HEAD" });
      expect(head.status).to.equal(200);
      expect(head.headers.get("content-length")).to.equal(String(TABLE_TEXT.length));
      expect(head.headers.get("etag")).to.equal('W/"v7"');
      expect(await head.text()).to.equal("");
    });

    it("sends no credential and no hop-by-hop header to the service", async () => {
      await gateway.get("/evm/chains", {
        headers: {
          Authorization: "Bearer secret",
          Cookie: "session=secret",
          "Payment-Signature": "secret",
          "X-Payment": "secret",
          "Proxy-Authorization": "secret",
          "X-Forwarded-For": "203.0.113.9",
          "X-Session-Id": "0123456789abcdef0123456789abcdef",
          TE: "trailers",
        },
      });
      const [seen] = gateway.evmDex.seen;
      if (!seen) throw new Error("the service received no request");
      const { headers, rawHeaders } = seen;
      expect(JSON.stringify(rawHeaders)).not.to.match(/secret|bootstrap|203\.0\.113|0123456789abcdef/);
      expect(Object.keys(headers).sort()).to.deep.equal(["host", "x-session-id"]);
      expect(headers.host).to.equal(new URL(gateway.evmDex.url).host);
    });

    it("never mixes two clients that send requests at the same time", async () => {
      gateway.evmDex.answer = async (req, res) => {
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 5));
        const text = JSON.stringify([
          { columns: [], data: [[req.url, req.headers["x-session-id"]]], rows: 1 },
        ]);
        res.writeHead(200, { "Content-Type": "application/vnd.service.table.v1.0.0+json" });
        res.end(text);
      };
      const keys = [gateway.keys.add(), gateway.keys.add()];
      await Promise.all(
        Array.from({ length: 100 }, async (_, number) => {
          const headers = { "X-API-KEY": keys[number % 2] as string };
          const answer = await gateway.get(`/evm/chains?n=${number}`, { headers });
          const [table] = (await answer.json()) as [{ data: [[string, string]] }];
          expect(table.data[0]).to.deep.equal([
            `/evm/chains?n=${number}`,
            answer.headers.get("x-session-id"),
          ]);
        }),
      );
      for (const { rawHeaders } of gateway.evmDex.seen) expect(rawHeaders.join()).not.to.contain("ct_");
    });

    it("uses its connections to the service again", async () => {
      const sockets = new Set<unknown>();
      gateway.evmDex.answer = (req, res) => {
        sockets.add(req.socket);
        answerTable(req, res);
      };
      for (let count = 0; count < 10; count += 1) await (await gateway.get("/evm/chains")).text();
      expect(sockets.size).to.equal(1);
    });

    it("passes the service's own errors with the session that client, service and log know", async () => {
      for (const [status, code] of [
        [400, "bad_request"],
        [404, "not_found"],
        [408, "request_timeout"],
        [500, "internal"],
        [503, "unavailable"],
      ] as const) {
        gateway.evmDex.answer = answerError(status, code, "Cannot parse limit: 0 is below 1.");
        const { message, session } = await expectError(await gateway.get("/evm/dexb/v3/pools"), code);
        expect(message).to.equal("Cannot parse limit: 0 is below 1.");
        expect(gateway.evmDex.seen.at(-1)?.headers["x-session-id"]).to.equal(session);
        await until(() => gateway.lines.some((line) => line.session === session && line.status === status));
      }
    });

    it("puts its own session into an error that has another", async () => {
      gateway.evmDex.answer = (_req, res) => {
        res.writeHead(400, { "Content-Type": "application/json" });
        res.end('{"error":"bad_request","message":"Cannot parse limit.","session":"another"}');
      };
      await expectError(await gateway.get("/evm/dexb/v3/pools"), "bad_request");
    });

    it("503 for a response that is neither a table nor a documented error", async () => {
      const bad: Record<string, [status: number, type: string, body: string]> = {
        "a proxy's page": [502, "text/html", "<h1>Bad Gateway</h1>"],
        "an error without form": [500, "application/json", '{"oops":true}'],
        "a code that does not fit the status": [
          500,
          "application/json",
          '{"error":"not_found","message":"x"}',
        ],
        "broken JSON": [400, "application/json", "{"],
        "a redirect": [302, "text/plain", ""],
        "another media type": [200, "text/html", "<p>hello</p>"],
        "no content": [204, "text/plain", ""],
      };
      for (const [what, [status, type, body]] of Object.entries(bad)) {
        gateway.evmDex.answer = (_req, res) => {
          res
            .writeHead(status, {
              "Content-Type": type,
              ETag: '"broken"',
              Location: "http://elsewhere.example/",
            })
            .end(body);
        };
        const answer = await gateway.get("/evm/chains");
        expect(answer.headers.get("retry-after"), what).to.match(/^[1-9]\d*$/);
        expect(answer.headers.get("etag"), what).to.equal(null);
        const { message } = await expectError(answer, "unavailable");
        expect(message).not.to.match(/127\.0\.0\.1|hello|Gateway/);
      }
    });

    it("503, not a hang, when the service dies in the middle of a body", async () => {
      gateway.evmDex.answer = (_req, res) => {
        res.writeHead(200, {
          "Content-Type": "application/vnd.service.table.v1.0.0+json",
          "Content-Length": "1000",
        });
        res.write("[{");
        setTimeout(() => res.destroy(), 5);
      };
      const answer = await gateway.get("/evm/chains");
      expect(answer.headers.get("retry-after")).to.match(/^[1-9]\d*$/);
      await expectError(answer, "unavailable");
    });

    it("503 when the service speaks no HTTP", async () => {
      gateway.evmDex.answer = (req) => {
        req.socket.end("SMTP ready\r\n");
      };
      await expectError(await gateway.get("/evm/chains"), "unavailable");
    });

    it("sends a request once more when a connection breaks, as an idle one does when the service closes it", async () => {
      let broken = 0;
      gateway.evmDex.answer = (req, res) => {
        if (broken > 0) return answerTable(req, res);
        broken += 1;
        req.socket.destroy();
      };
      expect((await gateway.get("/evm/chains")).status).to.equal(200);
      expect(gateway.evmDex.seen).to.have.length(2);
    });

    it("cancels the request to the service when the client has disconnected", async () => {
      let isAborted = false;
      gateway.evmDex.answer = (_req, res) => {
        res.on("close", () => (isAborted = true));
      };
      const client = new AbortController();
      const outcome = gateway.get("/evm/chains", { signal: client.signal }).catch(() => "gone");
      await until(() => gateway.evmDex.seen.length === 1);
      client.abort();
      expect(await outcome).to.equal("gone");
      await until(() => isAborted);
      await until(() => gateway.lines.some((line) => line.status === 499));
      expect(gateway.evmDex.seen).to.have.length(1);
    });
  });

  it("408 when the deadline passes, before the answer or within its body", async () => {
    await start({ config: { deadlineMs: 60 } });
    const { evmDex } = gateway;
    evmDex.answer = () => {};
    await expectError(await gateway.get("/evm/chains"), "request_timeout");
    evmDex.answer = (_req, res) => {
      res.writeHead(200, {
        "Content-Type": "application/vnd.service.table.v1.0.0+json",
        "Content-Length": "1000",
      });
      const drip = setInterval(() => res.write("["), 10);
      res.on("close", () => clearInterval(drip));
    };
    await expectError(await gateway.get("/evm/chains"), "request_timeout");
    evmDex.answer = answerTable;
    // A busy machine can take longer than this deadline once more.
    await until(async () => (await gateway.get("/evm/chains")).status === 200);
  });

  it("503 at once while a service is down, and its answers again when it is back; others are untouched", async () => {
    await start();
    const { evmDex } = gateway;
    await evmDex.stop();
    for (let count = 0; count < 3; count += 1) {
      const answer = await gateway.get("/evm/chains");
      expect(answer.headers.get("retry-after")).to.match(/^[1-9]\d*$/);
      const { message } = await expectError(answer, "unavailable");
      expect(message).not.to.contain("127.0.0.1");
    }
    expect((await gateway.get("/api/v1/solana/tokens")).status).to.equal(200);
    await evmDex.restart();
    await until(async () => (await gateway.get("/evm/chains")).status === 200);
  });

  it("follows gRPC health: 503 without a request while the service reports that it does not serve", async () => {
    await start();
    const { evmDex } = gateway;
    evmDex.healthy = false;
    await until(async () => (await gateway.get("/readyz")).status === 503);
    const requestsBefore = evmDex.seen.length;
    await expectError(await gateway.get("/evm/chains"), "unavailable");
    expect(evmDex.seen).to.have.length(requestsBefore);
    evmDex.healthy = true;
    await until(async () => (await gateway.get("/evm/chains")).status === 200);
  });

  it("skips a replica that fails one request after the other, whatever its health reports", async () => {
    await start({ replicas: 2 });
    const [sick, well] = [gateway.evmDex, ...gateway.others] as [
      typeof gateway.evmDex,
      typeof gateway.evmDex,
    ];
    sick.answer = (_req, res) =>
      void res.writeHead(502, { "Content-Type": "text/html" }).end("<h1>Bad Gateway</h1>");
    const statuses: number[] = [];
    for (let count = 0; count < 30; count += 1) statuses.push((await gateway.get("/evm/chains")).status);
    expect(statuses.filter((status) => status === 503)).to.have.length(5);
    expect(sick.seen).to.have.length(5);
    const metrics = await gateway.metrics();
    expect(metrics).to.match(/gateway_upstream_breaker_open\{upstream="evm-dex#0",service="gateway"\} 1/);
    sick.answer = answerTable;
    await until(async () => {
      expect((await gateway.get("/evm/chains")).status).to.equal(200);
      return sick.seen.length > 10;
    });
    expect(well.seen.length).to.be.greaterThan(20);
  });

  it("sends each request to the least busy of several replicas", async () => {
    await start({ replicas: 3 });
    const replicas = [gateway.evmDex, ...gateway.others];
    const releases: (() => void)[] = [];
    for (const replica of replicas) {
      replica.answer = (req, res) => {
        releases.push(() => answerTable(req, res));
      };
    }
    const responses = Array.from({ length: 9 }, () => gateway.get("/evm/chains"));
    await until(() => releases.length === 9);
    expect(replicas.map((replica) => replica.seen.length)).to.deep.equal([3, 3, 3]);
    for (const release of releases) release();
    for (const answer of await Promise.all(responses)) expect(answer.status).to.equal(200);
  });

  it("answers every request while one of two replicas is killed", async () => {
    await start({ replicas: 2 });
    const answers = Array.from({ length: 40 }, async (_, number) => {
      await new Promise((resolve) => setTimeout(resolve, number * 2));
      if (number === 20) await gateway.evmDex.stop();
      return (await gateway.get("/evm/chains")).status;
    });
    expect(new Set(await Promise.all(answers))).to.deep.equal(new Set([200]));
    await gateway.evmDex.restart();
  });
});
