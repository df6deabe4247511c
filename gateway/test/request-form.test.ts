import { METHODS } from "node:http";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { describeLong } from "../../services/shared/testkit/describe.ts";
import type { PaymentConfig } from "../config.ts";
import { expectErrorForm } from "../testkit/expect-error.ts";
import { startTestGateway, type TestGateway } from "../testkit/gateway.ts";
import { openRaw } from "../testkit/raw-connection.ts";
import { readAnswer } from "../testkit/raw-http.ts";
import { until } from "../testkit/until.ts";
import { answerTable } from "../testkit/upstream.ts";

const PAY_HOST = "pay.example";
/** Sells without a facilitator: no payment is sent here. */
const SELLING: PaymentConfig = {
  port: 0,
  publicUrl: `http://${PAY_HOST}`,
  payTo: `0x${"11".repeat(20)}`,
  facilitatorUrl: "http://127.0.0.1:1",
  prices: new Map(),
  rpcUrls: ["http://127.0.0.1:1"],
  settleTimeoutMs: 1_000,
  answersKeptMs: 60_000,
};
const BODIES: Readonly<Record<string, string>> = {
  "one byte": "Content-Length: 1\r\n\r\nx",
  "one byte that does not come": "Content-Length: 1\r\n\r\n",
  "a byte behind Expect: 100-continue": "Content-Length: 1\r\nExpect: 100-continue\r\n\r\n",
  chunks: "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
};
const SOLD = "/api/v1/solana/token-transactions";
const CLOSE_MS = 5_000;

describeLong("gateway: the form of requests", () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startTestGateway({ config: { payment: SELLING } });
  });
  after(() => gateway?.stop());
  const hosts = () => [
    { what: "gateway", url: gateway.url, host: "x" },
    { what: "pay-per-request host", url: gateway.payUrl as string, host: "x" },
    { what: "pay-per-request host behind the gateway's port", url: gateway.url, host: PAY_HOST },
  ];

  /** Sends a request and then another one on the same connection; the first must have the only answer. */
  const expectRefusedAndClosed = async (
    url: string,
    { request, status }: { readonly request: string; readonly status: number },
  ) => {
    const connection = await openRaw(url);
    connection.write(request);
    await until(() => connection.isClosed() || connection.text().includes("\r\n\r\n"));
    connection.write("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n");
    expect(await connection.closedWithin(CLOSE_MS), `${request} leaves its connection open`).to.equal(true);
    const answer = readAnswer(connection.text());
    expect(answer.status, request).to.equal(status);
    expect(answer.headers.connection, request).to.equal("close");
    expect(answer.text.match(/HTTP\/1\.1 /g), request).to.have.length(1);
    if (!request.startsWith("HEAD ")) {
      const { body, headers } = answer;
      expectErrorForm({ status, body, type: headers["content-type"], session: headers["x-session-id"] });
    }
    connection.destroy();
  };

  for (const [what, body] of Object.entries(BODIES)) {
    it(`a body is refused and its connection closed, at both hosts, for any method and path: ${what}`, async () => {
      for (const { url, host } of hosts()) {
        for (const path of ["/evm/chains", SOLD, "/", "/docs", "/livez", "/usage", "/nothing"]) {
          for (const method of ["OPTIONS", "GET", "HEAD", "POST", "DELETE"]) {
            const request = `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n${body}`;
            await expectRefusedAndClosed(url, { request, status: 400 });
          }
        }
      }
    });
  }

  it("a body is refused whichever method of the parser brings it", async () => {
    for (const method of METHODS.filter((each) => each !== "CONNECT")) {
      const request = `${method} /evm/chains HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx`;
      await expectRefusedAndClosed(gateway.url, { request, status: 400 });
    }
  });

  it("a request in one packet behind a body is not answered, and its connection closed", async () => {
    for (const { url, host } of hosts()) {
      const next = `GET /livez HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
      const request = `OPTIONS ${SOLD} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 1\r\n\r\nx${next}${next}`;
      await expectRefusedAndClosed(url, { request, status: 400 });
    }
  });

  for (const version of ["0.9", "2.0", "1.2", "3.0", "9.9", "1.10", "2"]) {
    it(`505 for HTTP/${version}, and its connection closed, at both hosts`, async () => {
      for (const { url, host } of hosts()) {
        for (const method of ["GET", "OPTIONS", "HEAD"]) {
          const request = `${method} /evm/chains HTTP/${version}\r\nHost: ${host}\r\n\r\n`;
          await expectRefusedAndClosed(url, { request, status: 505 });
        }
      }
    });
  }

  it("answers HTTP/1.0, and closes the connection unless the client keeps it", async () => {
    const connection = await openRaw(gateway.url);
    connection.write("GET /livez HTTP/1.0\r\n\r\n");
    expect(await connection.closedWithin(CLOSE_MS)).to.equal(true);
    expect(readAnswer(connection.text())).to.include({ status: 200, body: '{"status":"ok"}' });
  });

  it("answers what came before broken HTTP first, each request with its own answer", async () => {
    let release = () => {};
    gateway.evmDex.answer = (req, res) => {
      release = () => answerTable(req, res);
    };
    const requestsBefore = gateway.evmDex.seen.length;
    const connection = await openRaw(gateway.url);
    const good = "GET /evm/chains HTTP/1.1\r\nHost: x\r\nX-API-KEY: bootstrap key of the tests\r\n\r\n";
    connection.write(`${good}GET /livez HTTP/1.1\r\nHost: x\r\n\r\nbroken\r\n\r\n`);
    await until(() => gateway.evmDex.seen.length > requestsBefore);
    connection.write("more of it");
    release();
    expect(await connection.closedWithin(CLOSE_MS)).to.equal(true);
    expect(connection.text().match(/HTTP\/1\.1 \d+/g)).to.deep.equal([
      "HTTP/1.1 200",
      "HTTP/1.1 200",
      "HTTP/1.1 400",
    ]);
    gateway.evmDex.answer = answerTable;
  });
});
