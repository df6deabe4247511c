import { request } from "node:http";
import { connect } from "node:net";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { BOOTSTRAP_KEY, startTestGateway, type TestGateway } from "../testkit/gateway.ts";
import { until } from "../testkit/until.ts";
import { mediaTypeOf } from "../testkit/upstream.ts";

const PATH = "/evm/dexb/v3/pools";
/** A page of 10,000 rows, several megabytes. */
const BIG = Buffer.from(
  JSON.stringify([
    { columns: [], data: Array.from({ length: 10_000 }, (_, row) => [row, "x".repeat(400)]), rows: 10_000 },
  ]),
);

describe("gateway: long answers", () => {
  let gateway: TestGateway;
  // Of several megabytes: a busy machine takes a second for them.
  const start = async (deadlineMs = 30_000) => {
    gateway = await startTestGateway({ config: { deadlineMs } });
    gateway.evmDex.answer = (req, res) => {
      res.writeHead(200, {
        "Content-Type": mediaTypeOf(req.url ?? ""),
        "Content-Length": BIG.length,
        ETag: '"strong"',
      });
      res.end(BIG);
    };
  };
  beforeEach(() => start());
  afterEach(() => gateway.stop());

  /** The raw bytes of an answer as node:http sees them, and how it ended. */
  const readRaw = (headers: Record<string, string> = {}) =>
    new Promise<{ body: Buffer; headers: NodeJS.Dict<string | string[]>; isWhole: boolean }>((resolve) => {
      request(`${gateway.url}${PATH}`, { headers: { "X-API-KEY": BOOTSTRAP_KEY, ...headers } }, (answer) => {
        const pieces: Buffer[] = [];
        answer.on("data", (piece) => pieces.push(piece));
        answer.on("error", () => {});
        answer.on("close", () =>
          resolve({ body: Buffer.concat(pieces), headers: answer.headers, isWhole: answer.complete }),
        );
      })
        // A connection that ends before the head is no whole answer either.
        .on("error", () => resolve({ body: Buffer.alloc(0), headers: {}, isWhole: false }))
        .end();
    });

  it("come as they are, with their length", async () => {
    const { body, headers, isWhole } = await readRaw();
    expect(isWhole).to.equal(true);
    expect(body.equals(BIG)).to.equal(true);
    expect(headers["content-length"]).to.equal(String(BIG.length));
    expect(headers.vary).to.contain("Accept-Encoding");
    expect(headers.etag).to.equal('W/"strong"');
  });

  it("are compressed for a client that accepts it", async () => {
    const brotli = await readRaw({ "Accept-Encoding": "gzip, br" });
    expect(brotli.headers["content-encoding"]).to.equal("br");
    expect(brotliDecompressSync(brotli.body).equals(BIG)).to.equal(true);
    const gzip = await readRaw({ "Accept-Encoding": "gzip;q=0.5" });
    expect(gzip.headers["content-encoding"]).to.equal("gzip");
    expect(gunzipSync(gzip.body).equals(BIG)).to.equal(true);
  });

  it("are passed on before the service has sent all of it", async () => {
    let finish = () => {};
    gateway.evmDex.answer = (req, res) => {
      res.writeHead(200, { "Content-Type": mediaTypeOf(req.url ?? ""), "Content-Length": BIG.length });
      const half = BIG.length / 2;
      res.write(BIG.subarray(0, half));
      finish = () => void res.end(BIG.subarray(half));
    };
    const answer = await gateway.get(PATH, { headers: { "Accept-Encoding": "identity" } });
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    const first = await reader.read();
    expect(first.value?.length).to.be.greaterThan(0);
    finish();
    let length = first.value?.length ?? 0;
    for (let next = await reader.read(); !next.done; next = await reader.read()) length += next.value.length;
    expect(length).to.equal(BIG.length);
  });

  for (const [name, headers] of Object.entries({
    "with a length": { "Accept-Encoding": "identity" },
    compressed: { "Accept-Encoding": "br" },
  })) {
    it(`end visibly broken when the service dies in the middle, ${name}`, async () => {
      gateway.evmDex.answer = (req, res) => {
        res.writeHead(200, { "Content-Type": mediaTypeOf(req.url ?? ""), "Content-Length": BIG.length });
        res.write(BIG.subarray(0, 2_000_000));
        setTimeout(() => res.destroy(), 50);
      };
      const { isWhole } = await readRaw(headers);
      expect(isWhole).to.equal(false);
      await until(() => gateway.lines.some((line) => line.route === PATH && line.status === 503));
    });
  }

  it("end visibly broken when the service falls silent in the middle", async () => {
    await gateway.stop();
    await start(1_000);
    gateway.evmDex.answer = (req, res) => {
      res.writeHead(200, { "Content-Type": mediaTypeOf(req.url ?? ""), "Content-Length": BIG.length });
      res.write(BIG.subarray(0, 2_000_000));
    };
    expect((await readRaw()).isWhole).to.equal(false);
  });

  it("wait for a client that reads slowly, and are dropped with a client that goes", async () => {
    let sent = 0;
    let isClosed = false;
    gateway.evmDex.answer = (req, res) => {
      res.writeHead(200, { "Content-Type": mediaTypeOf(req.url ?? ""), "Transfer-Encoding": "chunked" });
      const more = () => {
        while (!res.destroyed && res.write(BIG)) sent += BIG.length;
        res.once("drain", more);
      };
      more();
      res.on("close", () => (isClosed = true));
    };
    const { hostname, port } = new URL(gateway.url);
    const client = connect(Number(port), hostname, () =>
      client.write(`GET ${PATH} HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${BOOTSTRAP_KEY}\r\n\r\n`),
    );
    client.pause();
    await new Promise((resolve) => setTimeout(resolve, 500));
    const before = sent;
    expect(before).to.be.lessThan(100_000_000);
    client.destroy();
    await until(() => isClosed);
  });

  it("answer HEAD without their body", async () => {
    const answer = await gateway.get(PATH, { method: "HEAD", headers: { "Accept-Encoding": "identity" } });
    expect(answer.status).to.equal(200);
    expect(answer.headers.get("content-length")).to.equal(String(BIG.length));
    expect(await answer.text()).to.equal("");
    expect((await gateway.get("/evm/chains")).status).to.equal(200);
  });
});
