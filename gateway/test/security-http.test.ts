import { expect } from "chai";
import { after, afterEach, before, beforeEach, describe, it } from "mocha";
import { createLog } from "../../services/shared/logging/log.ts";
import { readPayment } from "../payments/payload.ts";
import { expectErrorForm } from "../testkit/expect-error.ts";
import { BOOTSTRAP_KEY, startTestGateway, type TestGateway } from "../testkit/gateway.ts";
import { type RawAnswer, rawGet, sendRaw } from "../testkit/raw-http.ts";
import { TABLE_TEXT } from "../testkit/upstream.ts";

const KEY = `X-API-KEY: ${BOOTSTRAP_KEY}\r\n`;
const HEAD = `GET /evm/chains HTTP/1.1\r\nHost: x\r\n${KEY}`;
const SMUGGLED = `GET /evm/dexes HTTP/1.1\r\nHost: x\r\n${KEY}\r\n`;
const MARK = "mark-of-a-client";

function expectRefusal(answer: RawAnswer, what: string): void {
  const { status, headers, body, text } = answer;
  expect([400, 404, 505], `${what}: ${text}`).to.include(status);
  expectErrorForm({ status, body, type: headers["content-type"], session: headers["x-session-id"] });
  expect(text.match(/HTTP\/1\.1 /g), what).to.have.length(1);
}

describe("gateway: hostile HTTP", () => {
  let gateway: TestGateway;
  /** As they are written. */
  const lines: string[] = [];
  before(async () => {
    const write = (line: string) => void lines.push(line);
    gateway = await startTestGateway({
      parts: { log: createLog({ name: "gateway", level: "trace", destination: { write } }) },
    });
  });
  after(() => gateway.stop());
  const everySeen = () => [...gateway.evmDex.seen, ...gateway.lending.seen, ...gateway.solana.seen];
  const withKey = { "X-API-KEY": BOOTSTRAP_KEY };
  let requestsBefore = 0;
  beforeEach(() => {
    requestsBefore = everySeen().length;
  });
  afterEach(() => {
    expect(Object.keys(Object.prototype)).to.deep.equal([]);
    expect(({} as Record<string, unknown>).polluted).to.equal(undefined);
  });

  describe("request smuggling", () => {
    const chunked = (te: string) => `${HEAD}${te}\r\n\r\n0\r\n\r\n${SMUGGLED}`;
    const requests: Record<string, string> = {
      "a length that covers it": `${HEAD}Content-Length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`,
      "a length before it": `${HEAD}Content-Length: 2\r\n\r\nhi${SMUGGLED}`,
      "length and chunks (CL.TE)": `${HEAD}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
      "chunks and length (TE.CL)": `${HEAD}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n5c\r\n${SMUGGLED}\r\n0\r\n\r\n`,
      "two lengths": `${HEAD}Content-Length: 0\r\nContent-Length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`,
      "the same length twice": `${HEAD}Content-Length: 2\r\nContent-Length: 2\r\n\r\nhi${SMUGGLED}`,
      "lengths in a list": `${HEAD}Content-Length: 2, 2\r\n\r\nhi${SMUGGLED}`,
      "a length with a sign": `${HEAD}Content-Length: +2\r\n\r\nhi${SMUGGLED}`,
      "a length below nothing": `${HEAD}Content-Length: -2\r\n\r\n${SMUGGLED}`,
      "a length in hexadecimal": `${HEAD}Content-Length: 0x2\r\n\r\nhi${SMUGGLED}`,
      "a length beyond numbers": `${HEAD}Content-Length: 18446744073709551617\r\n\r\n${SMUGGLED}`,
      "a length behind two thousand headers": `${HEAD}${"a:b\r\n".repeat(2_100)}Content-Length: 2\r\n\r\nhi${SMUGGLED}`,
      "a body of chunks": chunked("Transfer-Encoding: chunked"),
      "chunks twice": chunked("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"),
      "chunks in a list": chunked("Transfer-Encoding: chunked, chunked"),
      "chunks before identity": chunked("Transfer-Encoding: chunked, identity"),
      "chunks with a parameter": chunked("Transfer-Encoding: chunked;q=1"),
      "chunks in other letters": chunked("transfer-ENCODING: CHUNKED"),
      "chunks by another name": chunked("Transfer-Encoding: xchunked"),
      "chunks behind a vertical tab": chunked("Transfer-Encoding: \u000bchunked"),
      "chunks behind a null byte": chunked("Transfer-Encoding: \u0000chunked"),
      "a blank before the colon": chunked("Transfer-Encoding : chunked"),
      "a folded header": chunked("Transfer-Encoding:\r\n chunked"),
      "a header folded behind another": chunked("X-A: b\r\n Transfer-Encoding: chunked"),
      "a bare line feed": `${HEAD}X-A: b\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
      "a bare carriage return": `${HEAD}X-A: b\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
      "a chunk with an invalid size": `${HEAD}Transfer-Encoding: chunked\r\n\r\n-1\r\n${SMUGGLED}`,
      "a request without version": `GET /evm/chains\r\n${SMUGGLED}`,
      "the preface of HTTP/2": `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${SMUGGLED}`,
      "a version of the future": `GET /evm/chains HTTP/9.9\r\nHost: x\r\n\r\n${SMUGGLED}`,
    };
    for (const [what, request] of Object.entries(requests)) {
      it(`gets one refusal and no further request through: ${what}`, async () => {
        expectRefusal(await sendRaw(gateway.url, request), what);
        expect(everySeen()).to.have.length(requestsBefore);
      });
    }

    it("is not what requests in a row are: each is answered, in order", async () => {
      const last = SMUGGLED.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
      const { text } = await sendRaw(
        gateway.url,
        `${HEAD}\r\n${HEAD.replace("chains", "nothing")}\r\n${last}`,
      );
      expect(text.match(/HTTP\/1\.1 \d+/g)).to.deep.equal(["HTTP/1.1 200", "HTTP/1.1 404", "HTTP/1.1 200"]);
      expect(
        everySeen()
          .slice(requestsBefore)
          .map(({ url }) => url),
      ).to.have.members(["/evm/chains", "/evm/dexes"]);
    });

    it("400 for two Hosts: a proxy in front may have used the other one", async () => {
      for (const second of ["x", "pay.example", ""]) {
        const request = `${HEAD}Host: ${second}\r\nConnection: close\r\n\r\n`;
        expectRefusal(await sendRaw(gateway.url, request), second);
      }
      expect(everySeen()).to.have.length(requestsBefore);
    });
  });

  it("400, in the documented form, for what is too long, whichever part it is", async () => {
    const requests = {
      URL: `GET /evm/chains?${"x".repeat(24_600)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
      "URL beyond the parser": `GET /${"x".repeat(100_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
      header: `${HEAD}Cookie: ${"x".repeat(60_000)}\r\n\r\n`,
      headers: `${HEAD}${"X-A: b\r\n".repeat(15_000)}\r\n`,
      "name of a header": `${HEAD}${"x".repeat(60_000)}: b\r\n\r\n`,
      method: `${"G".repeat(60_000)} / HTTP/1.1\r\nHost: x\r\n\r\n`,
      key: `GET /evm/chains HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${"k".repeat(60_000)}\r\n\r\n`,
    };
    for (const [what, request] of Object.entries(requests)) {
      expectRefusal(await sendRaw(gateway.url, request), what);
    }
    expect(everySeen()).to.have.length(requestsBefore);
  });

  it("answers HEAD without a body, also where it cannot be read", async () => {
    for (const request of [
      "HEAD /evm/chains?a b HTTP/1.1\r\nHost: x\r\n\r\n",
      `HEAD /${"x".repeat(60_000)} HTTP/1.1\r\n\r\n`,
    ]) {
      const { status, headers, body } = await sendRaw(gateway.url, request);
      expect(status).to.equal(400);
      expect(Number(headers["content-length"])).to.be.above(50);
      expect(body).to.equal("");
    }
  });

  it("lets nothing that a client sends become a header, here or at a service", async () => {
    const breaks = [
      "%0d%0aX-Injected:%201",
      "%0D%0A%0D%0AHTTP/1.1%20200",
      "%0aX-Injected:1",
      "%E5%98%8D%E5%98%8A",
    ];
    for (const value of breaks) {
      const target = `/evm/dexb/v3/pool?pool_address=${value}&${value}=1`;
      const answer = await rawGet(gateway.url, target, {
        ...withKey,
        "X-Session-Id": value,
        "X-Request-Id": value,
      });
      expect(answer.status).to.equal(200);
      expect(answer.text).not.to.match(/^x-injected/im);
      expect(answer.text.match(/HTTP\/1\.1 /g)).to.have.length(1);
      expect(answer.headers["x-session-id"]).to.match(/^[0-9a-f-]{36}$/);
      const seen = gateway.evmDex.seen.at(-1);
      expect(seen?.url).to.equal(target);
      expect(seen?.headers["x-session-id"]).to.equal(answer.headers["x-session-id"]);
      expect(Object.keys(seen?.headers ?? {}).sort()).to.deep.equal(["host", "x-session-id"]);
    }
    const key = `${BOOTSTRAP_KEY}\r\n X-Injected: 1`;
    expectRefusal(await rawGet(gateway.url, "/evm/chains", { "X-API-KEY": key }), "a key over two lines");
  });

  it("returns nothing for a path that only looks like an endpoint's, with or without a key", async () => {
    const paths = [
      ...["/evm/chains/", "//evm/chains", "/evm//chains", "/evm/chains//", "/./evm/chains", "/evm/./chains"],
      ...[
        "/x/../evm/chains",
        "/evm/chains/..",
        "/evm/chains/.",
        "/evm/chains/../chains",
        "/../evm/chains",
        "/..",
      ],
      ...[
        "/%65vm/chains",
        "/evm%2fchains",
        "/evm%2Fchains",
        "/evm%252fchains",
        "/evm/%2e/chains",
        "/evm/%2e%2e/evm/chains",
      ],
      ...[
        "/evm%5cchains",
        "/evm\\chains",
        "\\evm\\chains",
        "/evm/chains%00",
        "/evm/chains%20",
        "/evm/chains%09",
      ],
      ...[
        "/evm/chains%3f",
        "/evm/chains%23",
        "/evm/chains;x=1",
        "/evm;/chains",
        "/evm/chains.json",
        "/evm/chains~",
      ],
      ...[
        "/EVM/chains",
        "/evm/CHAINS",
        "/Evm/Chains",
        "/evm/cha%c4%b1ns",
        "/evm/chains%c0%80",
        "/evm%c0%afchains",
      ],
      ...[
        "/usage/",
        "/Usage",
        "/%75sage",
        "/metrics/",
        "/livez%00",
        "/docs/..%2fusage",
        "/.env",
        "/.git/config",
      ],
      ...[
        "http://x//evm/chains",
        "http:///evm/chains",
        "https://x/evm/chains/",
        "//x/evm/chains",
        "evm/chains",
        "*",
      ],
    ];
    for (const path of paths) {
      for (const headers of [{}, withKey]) expectRefusal(await rawGet(gateway.url, path, headers), path);
    }
    expect(everySeen()).to.have.length(requestsBefore);
  });

  it("takes no other path, method or client's address from a header", async () => {
    const headers = {
      "X-Original-URL": "/usage",
      "X-Rewrite-URL": "/usage",
      "X-Http-Method-Override": "DELETE",
      "X-Method-Override": "DELETE",
      "X-Forwarded-Prefix": "/usage",
      "X-Forwarded-Host": "pay.example",
      Forwarded: "host=pay.example",
    };
    const answer = await rawGet(gateway.url, "/evm/chains", { ...withKey, ...headers });
    expect(answer.body).to.equal(TABLE_TEXT);
    expectRefusal(await rawGet(gateway.url, "/nothing", { ...withKey, ...headers }), "another path");
  });

  it("never repeats a spoofed Host, in no document and no header", async () => {
    const hosts = [
      "evil.example",
      "evil.example:8080",
      "localhost.evil.example",
      "127.0.0.1.evil.example",
      "x@evil.example",
    ];
    for (const host of hosts) {
      for (const path of [
        "/openapi.json",
        "/openapi-3.1.json",
        "/openapi-objects.json",
        "/docs",
        "/",
        "/nothing",
        "/evm/chains",
      ]) {
        const headers = {
          ...withKey,
          "X-Forwarded-Host": host,
          Forwarded: `host=${host}`,
          Accept: "text/html",
        };
        const { text } = await rawGet(gateway.url, path, {
          ...headers,
          Host: host,
          "X-Forwarded-Proto": host,
        });
        expect(text, `${path} for ${host}`).not.to.contain("evil");
      }
      const openapi = await rawGet(gateway.url, "/openapi.json", { Host: host });
      expect(JSON.parse(openapi.body).servers).to.deep.equal([{ url: "/" }]);
      const docs = await rawGet(gateway.url, "/docs", { Host: host });
      expect(docs.body).to.contain('"$BASE_URL/evm/chains"');
    }
  });

  it("is polluted by no name of a parameter, a header or a field of a payment", async () => {
    const names = [
      "__proto__",
      "__proto__[polluted]",
      "__proto__.polluted",
      "constructor[prototype][polluted]",
      "prototype",
    ];
    for (const name of names) {
      const answer = await rawGet(
        gateway.url,
        `/evm/chains?${name}=1&${encodeURIComponent(name)}=1`,
        withKey,
      );
      expect(answer.status, name).to.equal(200);
    }
    await rawGet(gateway.url, "/evm/chains", { ...withKey, ["__proto__" as string]: "1", constructor: "1" });
    for (const json of [
      '{"__proto__":{"polluted":1}}',
      '{"x402Version":2,"constructor":{"prototype":{"polluted":1}},"payload":{"__proto__":{"polluted":1}}}',
      '{"x402Version":2,"accepted":{"__proto__":{"polluted":1}},"extensions":{"__proto__":{"polluted":1}},"payload":{}}',
    ])
      expect(() => readPayment(Buffer.from(json).toString("base64"))).to.throw();
  });

  it("logs one line of JSON per request, without any text of the client", async () => {
    const before = lines.length;
    const hostile = `${MARK}\u001b[31m\u0008{"level":"fatal"}`;
    const shown = Buffer.from(hostile)
      .toString("latin1")
      .replace(/\p{Cc}/gu, "\t");
    const targets = [
      `/${MARK}%0a{"level":"fatal"}`,
      `/evm/chains?a=${MARK}%0d%0a%1b[31m`,
      `/evm/chains?${MARK}=1`,
      "/usage",
    ];
    for (const target of targets) {
      for (const name of [
        "User-Agent",
        "X-Session-Id",
        "X-Request-Id",
        "X-API-KEY",
        "Host",
        "Referer",
        "Cookie",
      ]) {
        await rawGet(gateway.url, target, { ...withKey, [name]: shown });
      }
      await rawGet(gateway.url, target, { "User-Agent": hostile });
    }
    const method = `${MARK.toUpperCase()} /evm/chains HTTP/1.1\r\nHost: x\r\n\r\n`;
    await sendRaw(gateway.url, method);
    const written = lines.slice(before);
    expect(written.length).to.be.at.least(targets.length * 7);
    for (const line of written) {
      expect(line).to.match(/^\{\P{Cc}*\}\n$/u);
      expect(line).not.to.match(new RegExp(MARK, "i"));
      expect(JSON.parse(line)).to.include({ service: "gateway" });
    }
    const metrics = await gateway.metrics();
    expect(metrics).not.to.match(new RegExp(MARK, "i"));
  });
});
