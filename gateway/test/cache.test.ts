import { brotliDecompressSync } from "node:zlib";
import { expect } from "chai";
import { afterEach, beforeEach, it } from "mocha";
import { describeLong } from "../../services/shared/testkit/describe.ts";
import { createManualClock, type ManualClock } from "../testkit/clock.ts";
import { expectError } from "../testkit/expect-error.ts";
import { startTestGateway, type TestGateway } from "../testkit/gateway.ts";
import { rawGet } from "../testkit/raw-http.ts";
import { until } from "../testkit/until.ts";
import { answerError, answerTable, mediaTypeOf, TABLE_TEXT } from "../testkit/upstream.ts";

const PATH = "/evm/dexb/v3/pools";

describeLong("gateway: response cache", () => {
  let gateway: TestGateway;
  let clock: ManualClock;
  beforeEach(async () => {
    clock = createManualClock();
    gateway = await startTestGateway({
      config: { cacheBytes: 8_000_000, deadlineMs: 2_000 },
      parts: { clock },
    });
  });
  afterEach(() => gateway.stop());

  const requestCount = () => gateway.evmDex.seen.length;
  const wordOf = (answer: Response) => answer.headers.get("x-cache");
  const get = async (target: string, headers: Record<string, string> = {}) => {
    const answer = await gateway.get(target, { headers });
    return {
      word: wordOf(answer),
      status: answer.status,
      headers: answer.headers,
      text: await answer.text(),
    };
  };
  /** A service whose data has a version, as a real one's: a tag, a block, and a second of freshness. */
  const serveVersion = (version: () => number) => {
    gateway.evmDex.answer = (req, res) => {
      const tag = `W/"v${version()}"`;
      const known = { ETag: tag, "Cache-Control": "private, max-age=1", "X-Data-Block": String(version()) };
      if (req.headers["if-none-match"]?.includes(tag)) res.writeHead(304, known).end();
      else res.writeHead(200, { "Content-Type": mediaTypeOf(req.url ?? ""), ...known }).end(`[${version()}]`);
    };
  };

  it("returns a response again while it is fresh, with its age, and requests it anew after that", async () => {
    const first = await get(PATH);
    expect(first.word).to.equal("miss");
    expect(first.headers.get("age")).to.equal(null);
    clock.advance(999);
    const again = await get(PATH);
    expect(again.word).to.equal("hit");
    expect(again.text).to.equal(TABLE_TEXT);
    expect(again.headers.get("age")).to.equal("0");
    for (const name of ["content-type", "etag", "cache-control", "x-data-block"])
      expect(again.headers.get(name), name).to.equal(first.headers.get(name));
    expect(again.headers.get("x-session-id")).not.to.equal(first.headers.get("x-session-id"));
    expect(requestCount()).to.equal(1);
    clock.advance(1);
    expect((await get(PATH)).word).to.equal("miss");
    expect(requestCount()).to.equal(2);
  });

  it("knows a request by its meaning: parameters in any order and spelling, from any client", async () => {
    await get(`${PATH}?limit=5&offset=%31`);
    const other = gateway.keys.add();
    expect((await get(`${PATH}?offset=1&limit=5`, { "X-API-KEY": other })).word).to.equal("hit");
    expect((await get(`${PATH}?offset=1&limit=6`)).word).to.equal("miss");
    expect((await get(`${PATH}?offset=1&limit=5&x=1`)).word).to.equal("miss");
    expect((await get("/evm/clones/v3/pools?offset=1&limit=5")).word).to.equal("miss");
  });

  it("lets no client bypass the gates", async () => {
    await get(PATH);
    await expectError(await fetch(`${gateway.url}${PATH}`), "unauthorized");
    const solanaOnly = gateway.keys.add({ scopes: ["solana"] });
    await expectError(await gateway.get(PATH, { headers: { "X-API-KEY": solanaOnly } }), "forbidden");
  });

  it("revalidates by its tag what is no longer fresh, and keeps the body where nothing has changed", async () => {
    let version = 7;
    serveVersion(() => version);
    await get(PATH);
    clock.advance(1_500);
    const renewed = await get(PATH);
    expect([renewed.word, renewed.text]).to.deep.equal(["revalidated", "[7]"]);
    expect(gateway.evmDex.seen.at(-1)?.headers["if-none-match"]).to.equal('W/"v7"');
    clock.advance(900);
    expect((await get(PATH)).word).to.equal("hit");
    version = 8;
    clock.advance(100);
    const changed = await get(PATH);
    expect([changed.word, changed.text, changed.headers.get("x-data-block")]).to.deep.equal([
      "miss",
      "[8]",
      "8",
    ]);
  });

  it("answers 304 itself to a client that has the cached response, and HEAD without its body", async () => {
    await get(PATH);
    const known = await gateway.get(PATH, { headers: { "If-None-Match": 'W/"other", W/"v7"' } });
    expect([known.status, wordOf(known), known.headers.get("etag")]).to.deep.equal([304, "hit", 'W/"v7"']);
    expect(known.headers.get("content-type")).to.equal(null);
    const head = await gateway.get(PATH, { method: "HEAD" });
    expect([head.status, wordOf(head), head.headers.get("content-length")]).to.deep.equal([
      200,
      "hit",
      String(TABLE_TEXT.length),
    ]);
    expect(await head.text()).to.equal("");
    expect(requestCount()).to.equal(1);
  });

  it("passes on the service's own 304 for tags that it does not have", async () => {
    serveVersion(() => 3);
    const known = await gateway.get(PATH, { headers: { "If-None-Match": 'W/"v3"' } });
    expect([known.status, wordOf(known)]).to.deep.equal([304, "miss"]);
    expect((await get(PATH)).text).to.equal("[3]");
  });

  it("sends one request for identical requests at the same time", async () => {
    let release = () => {};
    gateway.evmDex.answer = (req, res) => {
      release = () => answerTable(req, res);
    };
    const all = Array.from({ length: 20 }, (_, number) =>
      get(`${PATH}?${number % 2 === 0 ? "limit=1&offset=2" : "offset=2&limit=1"}`),
    );
    await until(() => requestCount() === 1);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(requestCount()).to.equal(1);
    release();
    const answers = await Promise.all(all);
    expect(answers.map(({ text }) => text)).to.deep.equal(Array(20).fill(TABLE_TEXT));
    expect(answers.filter(({ word }) => word === "miss")).to.have.length(1);
    expect(answers.filter(({ word }) => word === "coalesced")).to.have.length(19);
  });

  it("continues for the others when the first client disconnects, and cancels when all have", async () => {
    let isAborted = false;
    let release = () => {};
    gateway.evmDex.answer = (req, res) => {
      res.on("close", () => (isAborted = !res.writableFinished));
      release = () => answerTable(req, res);
    };
    const first = new AbortController();
    const leaving = gateway.get(PATH, { signal: first.signal }).catch(() => "gone");
    await until(() => requestCount() === 1);
    const staying = get(PATH);
    await new Promise((resolve) => setTimeout(resolve, 50));
    first.abort();
    expect(await leaving).to.equal("gone");
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(isAborted).to.equal(false);
    release();
    expect((await staying).text).to.equal(TABLE_TEXT);

    const last = new AbortController();
    const alone = gateway.get(`${PATH}?limit=9`, { signal: last.signal }).catch(() => "gone");
    await until(() => requestCount() === 2);
    last.abort();
    expect(await alone).to.equal("gone");
    await until(() => isAborted);
    gateway.evmDex.answer = answerTable;
    expect((await get(`${PATH}?limit=9`)).word).to.equal("miss");
  });

  it("never caches an error; each client that waited receives it with its own session", async () => {
    gateway.evmDex.answer = (req, res) =>
      void setTimeout(
        () => answerError(400, "bad_request", "Cannot parse limit: 0 is below 1.")(req, res),
        50,
      );
    const answers = await Promise.all(Array.from({ length: 5 }, () => gateway.get(`${PATH}?limit=0`)));
    expect(requestCount()).to.equal(1);
    const sessions = await Promise.all(
      answers.map(async (answer) => (await expectError(answer, "bad_request")).session),
    );
    expect(new Set(sessions).size).to.equal(5);
    gateway.evmDex.answer = answerTable;
    expect((await get(`${PATH}?limit=0`)).status).to.equal(200);
  });

  it("caches nothing that its service does not declare fresh", async () => {
    for (const cacheControl of ["no-store", "no-cache", "private", "max-age=0"]) {
      gateway.evmDex.answer = (req, res) =>
        void res
          .writeHead(200, { "Content-Type": mediaTypeOf(req.url ?? ""), "Cache-Control": cacheControl })
          .end("[]");
      expect((await get(PATH)).word, cacheControl).to.equal("miss");
      expect((await get(PATH)).word, cacheControl).to.equal("miss");
    }
  });

  it("compresses a cached response once for each coding, and sends Vary", async () => {
    const text = JSON.stringify([
      { columns: [], data: Array(200).fill(["0x0000000000000000000000000000000000000000"]), rows: 200 },
    ]);
    gateway.evmDex.answer = (req, res) =>
      void res
        .writeHead(200, {
          "Content-Type": mediaTypeOf(req.url ?? ""),
          "Cache-Control": "max-age=9",
          ETag: 'W/"a"',
        })
        .end(text);
    const plain = await rawGet(gateway.url, PATH, { "X-API-KEY": "bootstrap key of the tests" });
    expect(plain.headers["content-encoding"]).to.equal(undefined);
    expect(plain.headers.vary).to.equal("Accept-Encoding");
    for (const word of ["hit", "hit"]) {
      const coded = await gateway.get(PATH, { headers: { "Accept-Encoding": "br" } });
      expect([wordOf(coded), coded.headers.get("content-encoding"), coded.headers.get("vary")]).to.deep.equal(
        [word, "br", "Accept-Encoding"],
      );
      expect(await coded.text()).to.equal(text);
    }
    const head = await gateway.get(PATH, { method: "HEAD", headers: { "Accept-Encoding": "br" } });
    const { body } = await rawGet(gateway.url, PATH, {
      "X-API-KEY": "bootstrap key of the tests",
      "Accept-Encoding": "br",
    });
    expect(head.headers.get("content-length")).to.equal(String(body.length));
    expect(brotliDecompressSync(Buffer.from(body, "latin1")).toString()).to.equal(text);
  });

  it("fails a request at its own deadline, and a later one at its own", async () => {
    gateway.evmDex.answer = () => {};
    const first = gateway.get(PATH);
    await until(() => requestCount() === 1);
    await new Promise((resolve) => setTimeout(resolve, 300));
    clock.advance(300);
    const second = gateway.get(PATH);
    await expectError(await first, "request_timeout");
    // The second one's deadline is not over: it sends a new request.
    await until(() => requestCount() === 2);
    gateway.evmDex.answer = answerTable;
    await expectError(await second, "request_timeout");
  });

  it("reports in /metrics and in the log how responses came about", async () => {
    await get(PATH);
    await get(PATH);
    const metrics = await gateway.metrics();
    expect(metrics).to.match(/gateway_cache_answers_total\{result="hit",service="gateway"\} 1/);
    expect(metrics).to.match(/gateway_cache_answers_total\{result="miss",service="gateway"\} 1/);
    expect(metrics).to.match(/gateway_cache_entries\{service="gateway"\} 1/);
    await until(() => gateway.lines.filter((line) => line.cache !== undefined).length === 2);
    expect(gateway.lines.flatMap(({ cache }) => cache ?? [])).to.deep.equal(["miss", "hit"]);
  });
});
