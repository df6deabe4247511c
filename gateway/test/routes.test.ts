import { METHODS } from "node:http";
import { expect } from "chai";
import { after, before, beforeEach, describe, it } from "mocha";
import { catalogue } from "../catalogue.ts";
import { expectError, expectErrorForm } from "../testkit/expect-error.ts";
import { BOOTSTRAP_KEY, startTestGateway, type TestGateway } from "../testkit/gateway.ts";
import { type RawAnswer, rawGet, sendRaw } from "../testkit/raw-http.ts";

function expectRawError(answer: RawAnswer, code: Parameters<typeof expectErrorForm>[1]) {
  const { status, headers, body } = answer;
  return expectErrorForm(
    { status, body, type: headers["content-type"], session: headers["x-session-id"] },
    code,
  );
}

describe("gateway: routes", () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startTestGateway();
  });
  after(() => gateway.stop());
  const everySeen = () => [...gateway.evmDex.seen, ...gateway.lending.seen, ...gateway.solana.seen];
  let requestsBefore = 0;
  beforeEach(() => {
    requestsBefore = everySeen().length;
  });
  const withKey = { "X-API-KEY": BOOTSTRAP_KEY };

  it("sends every path of the catalogue to the service of its family", async () => {
    expect(catalogue).to.have.length(37);
    const services = { "evm-dex": gateway.evmDex, lending: gateway.lending, solana: gateway.solana };
    for (const { path, family, mediaType } of catalogue) {
      const answer = await gateway.get(path);
      expect(answer.status, path).to.equal(200);
      expect(answer.headers.get("content-type")).to.equal(mediaType);
      expect(services[family].seen.at(-1)?.url).to.equal(path);
    }
  });

  it("404 in the documented form for any other path, whatever it looks like; no request reaches a service", async () => {
    const targets = [
      "/evm",
      "/evm/",
      "/evm/chains/",
      "//evm/chains",
      "/evm//chains",
      "/EVM/chains",
      "/evm/Chains",
      "/evm/%63hains",
      "/evm%2Fchains",
      "/evm/chains%00",
      "/evm/chains%20",
      "/evm/./chains",
      "/evm/x/../chains",
      "/evm/%2e%2e/evm/chains",
      "/evm\\chains",
      "/evm/chains;a=b",
      "/evm/chains.json",
      "/api/v1/solana/",
      "/__proto__",
      "/constructor",
      "/livez/",
      "*",
      "http://elsewhere.example",
      "ftp://elsewhere.example/evm/chains",
    ];
    for (const target of targets) {
      const answer = await rawGet(gateway.url, target, withKey);
      expect(answer.status, target).to.equal(404);
      expectRawError(answer, "not_found");
    }
    expect(everySeen()).to.have.length(requestsBefore);
  });

  it("answers an absolute target for its path alone, wherever it claims to go", async () => {
    const answer = await rawGet(gateway.url, "http://elsewhere.example/evm/chains?a=1#b", withKey);
    expect(answer.status).to.equal(200);
    expect(gateway.evmDex.seen.at(-1)?.url).to.equal("/evm/chains?a=1");
    expect(gateway.evmDex.seen.at(-1)?.headers.host).not.to.contain("elsewhere");
  });

  it("404 for every method but GET, HEAD and OPTIONS; with a body 400 where the parser knows the method", async () => {
    for (const method of ["POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "QUERY", "BREW"]) {
      const head = `${method} /evm/chains HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-API-KEY: ${BOOTSTRAP_KEY}\r\n`;
      expectRawError(await sendRaw(gateway.url, `${head}\r\n`), "not_found");
      const answer = await sendRaw(gateway.url, `${head}Content-Length: 2\r\n\r\nhi`);
      expectRawError(answer, METHODS.includes(method) ? "bad_request" : "not_found");
    }
    expect(everySeen()).to.have.length(requestsBefore);
  });

  it("400 for a GET with a body, which would otherwise reach a service as a request of its own", async () => {
    const smuggled = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n";
    const head = `GET /evm/chains HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${BOOTSTRAP_KEY}\r\n`;
    const chunk = `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`;
    for (const request of [
      `${head}Content-Length: ${smuggled.length}\r\n\r\n${smuggled}`,
      `${head}Transfer-Encoding: chunked\r\n\r\n${chunk}`,
    ]) {
      const answer = await sendRaw(gateway.url, request);
      expectRawError(answer, "bad_request");
      expect(answer.headers.connection).to.equal("close");
      expect(answer.text.match(/HTTP\/1\.1 /g)).to.have.length(1);
    }
    expect(everySeen()).to.have.length(requestsBefore);
  });

  it("400 for ambiguous framing, malformed HTTP, a missing Host and oversized or non-ASCII targets", async () => {
    const get = "GET /evm/chains HTTP/1.1\r\n";
    const requests = {
      "two lengths": `${get}Host: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab`,
      "length and chunks": `${get}Host: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      "no HTTP": "hello\r\n\r\n",
      "a bare newline in a header": `${get}Host: x\r\nX-A: a\x00b\r\n\r\n`,
      "a blank before a colon": `${get}Host : x\r\n\r\n`,
      "a target without slash": "GET evm/chains HTTP/1.1\r\nHost: x\r\n\r\n",
      "no host": `${get}Connection: close\r\n\r\n`,
      "a long target": `GET /evm/chains?${"x".repeat(25_000)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
      "large headers": `${get}Host: x\r\nX-A: ${"x".repeat(60_000)}\r\n\r\n`,
      "raw UTF-8": "GET /evm/chains?a=\u00e9 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    };
    for (const [what, request] of Object.entries(requests)) {
      const answer = await sendRaw(gateway.url, request);
      expect(answer.status, what).to.equal(400);
      expectRawError(answer, "bad_request");
    }
    expect(everySeen()).to.have.length(requestsBefore);
  });

  it("answers in the documented form where a client sends an unknown Expect", async () => {
    const answer = await rawGet(gateway.url, "/evm/nothing", { Expect: "tea" });
    expectRawError(answer, "not_found");
  });

  it("names each request freshly, whatever session the client sends", async () => {
    const sent = "0123456789abcdef0123456789abcdef";
    const sessions = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const answer = await fetch(`${gateway.url}/evm/chains`, { headers: { "X-Session-Id": sent } });
        return (await expectError(answer, "unauthorized")).session;
      }),
    );
    expect(new Set(sessions).size).to.equal(20);
    expect(sessions).not.to.contain(sent);
  });

  it("lets pages of any origin send a key and read our headers", async () => {
    for (const path of ["/evm/chains", "/api/v1/solana/tokens", "/openapi.json"]) {
      const preflight = await fetch(`${gateway.url}${path}`, {
        method: "OPTIONS",
        headers: { Origin: "https://app.example", "Access-Control-Request-Headers": "x-api-key" },
      });
      expect(preflight.status).to.equal(204);
      expect(preflight.headers.get("access-control-allow-origin")).to.equal("*");
      expect(preflight.headers.get("access-control-allow-headers")).to.contain("X-API-KEY");
      expect(preflight.headers.get("access-control-allow-methods")).to.contain("GET");
    }
    for (const answer of [await gateway.get("/evm/chains"), await fetch(`${gateway.url}/evm/chains`)]) {
      expect(answer.headers.get("access-control-allow-origin")).to.equal("*");
      expect(answer.headers.get("access-control-expose-headers")).to.contain("X-Session-Id");
      expect(answer.headers.get("access-control-allow-credentials")).to.equal(null);
    }
    await expectError(await fetch(`${gateway.url}/nothing`, { method: "OPTIONS" }), "not_found");
    expect(everySeen()).to.have.length(requestsBefore + 1);
  });

  it("sets the security headers of browsers and hides its software", async () => {
    const { headers } = await fetch(`${gateway.url}/nothing`);
    expect(headers.get("x-content-type-options")).to.equal("nosniff");
    expect(headers.get("content-security-policy")).to.contain("default-src 'none'");
    expect(headers.get("x-powered-by")).to.equal(null);
  });

  it("logs routes by template, never what a client made up", async () => {
    await gateway.get("/secret-path-of-a-client?key=secret-query");
    await gateway.get("/evm/chains?token=secret-query");
    const text = JSON.stringify(gateway.lines);
    expect(text).not.to.match(/secret-path|secret-query/);
    expect(text).to.contain("unmatched");
  });
});
