import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { type Clock, systemClock } from "../rpc-client/endpoint/clock.ts";
import { createPortalClient, type PortalOptions } from "./client.ts";
import { PortalFailure, PortalFork } from "./failures.ts";
import {
  type ScriptedPortal,
  sendLines,
  sendStatus,
  startScriptedPortal,
  toLines,
} from "./testkit/scripted-portal.ts";

const { signal } = new AbortController();
const block = (number: number) => ({ header: { number, hash: `0x${number}` } });
const blocks = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => block(from + i));
const QUERY = { type: "some", fields: { block: { number: true } } };

describe("createPortalClient", () => {
  let portal: ScriptedPortal;
  /** Pauses in milliseconds, none of which takes its time. */
  let pauses: number[];
  let clock: Clock;

  beforeEach(async () => {
    portal = await startScriptedPortal();
    pauses = [];
    let skippedMs = 0;
    clock = {
      ...systemClock,
      now: () => systemClock.now() + skippedMs,
      wallNow: () => systemClock.wallNow() + skippedMs,
      async sleep(ms, ended) {
        // Timeouts are longer than any pause of these tests: they take their time.
        if (ms >= 30_000) return systemClock.sleep(ms, ended);
        pauses.push(ms);
        skippedMs += ms;
      },
    };
  });

  afterEach(() => portal.close());

  const open = (options: PortalOptions = {}) =>
    createPortalClient(portal.url, { gapMs: 0, timeoutMs: 30_000, clock, ...options });

  async function read(from: number, to: number, options: PortalOptions = {}): Promise<number[]> {
    const numbers: number[] = [];
    const stream = open(options).stream({ fromBlock: from, toBlock: to, query: QUERY, signal });
    for await (const lines of stream) numbers.push(...lines.map(({ header }) => header.number));
    return numbers;
  }

  const failureOf = async (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => undefined,
      (error: unknown) => error,
    );
  const numbersOf = (from: number, to: number) => blocks(from, to).map(({ header }) => header.number);
  const asksFrom = () => portal.asked.map(({ body }) => body?.fromBlock);

  it("sends the query with the range, asks for gzip and reads the lines", async () => {
    portal.play(sendLines(blocks(5, 9)));
    expect(await read(5, 9)).to.deep.equal(numbersOf(5, 9));
    expect(portal.asked).to.have.length(1);
    const [{ path, body, headers }] = portal.asked as [ScriptedPortal["asked"][number]];
    expect(path).to.equal("/datasets/some-chain/finalized-stream");
    expect(body).to.deep.equal({ ...QUERY, fromBlock: 5, toBlock: 9 });
    expect([headers["content-type"], headers["accept-encoding"]]).to.deep.equal(["application/json", "gzip"]);
  });

  it("goes on behind a cut that nothing marks", async () => {
    portal.play(sendLines(blocks(1, 3)), sendLines([block(4), block(8)]), sendLines(blocks(9, 9)));
    expect(await read(1, 9)).to.deep.equal([1, 2, 3, 4, 8, 9]);
    expect(asksFrom()).to.deep.equal([1, 4, 9]);
    expect(pauses).to.deep.equal([]);
  });

  it("names the parent where forks can be, and gives the portal's blocks in order", async () => {
    const previousBlocks = [block(8).header, block(6).header, block(7).header];
    portal.play(sendLines([block(5), block(8)]), sendStatus(409, { previousBlocks }));
    const stream = open().stream({
      ...{ fromBlock: 5, toBlock: 9, query: QUERY, signal },
      ...{ isFinal: false, parentHash: "0x4" },
    });
    const fork = await failureOf(drain(stream));
    expect(portal.asked.map(({ path }) => path)).to.deep.equal(
      Array.from({ length: 2 }, () => "/datasets/some-chain/stream"),
    );
    expect(portal.asked.map(({ body }) => body?.parentBlockHash)).to.deep.equal(["0x4", "0x8"]);
    expect(fork).to.be.instanceOf(PortalFork);
    expect((fork as PortalFork).previousBlocks.map(({ number }) => number)).to.deep.equal([6, 7, 8]);
  });

  it("keeps the whole lines of a body that breaks off, and asks for the rest", async () => {
    const whole = gzipSync(toLines(blocks(1, 400)));
    portal.play(
      // Within the zip: the connection breaks.
      (response) => {
        response.writeHead(200, { "content-encoding": "gzip" });
        response.write(whole.subarray(0, whole.length - 200), () => setTimeout(() => response.destroy(), 20));
      },
      // Within a line: the body ends as if it were whole.
      (response, { body }) => {
        const from = Number(body?.fromBlock);
        response.writeHead(200, { "content-encoding": "gzip" });
        response.end(gzipSync(`${toLines(blocks(from, from + 2))}{"header":{"number":${from + 3},"ha`));
      },
      (response, { body }) => sendLines(blocks(Number(body?.fromBlock), 400))(response, {} as never),
    );
    expect(await read(1, 400)).to.deep.equal(numbersOf(1, 400));
    expect(portal.asked).to.have.length(3);
    expect(asksFrom()[0]).to.equal(1);
    expect(asksFrom()[1]).to.be.greaterThan(1);
    expect(asksFrom()[2]).to.equal((asksFrom()[1] as number) + 3);
  });

  it("takes a last line without a line break, and bytes that are no gzip for a broken body", async () => {
    portal.play(
      (response) => {
        response.writeHead(200, { "content-encoding": "gzip" });
        response.end("this is no gzip");
      },
      (response) => {
        response.writeHead(200, { "content-encoding": "gzip" });
        response.end(gzipSync(toLines(blocks(1, 2)).trimEnd()));
      },
    );
    expect(await read(1, 2)).to.deep.equal([1, 2]);
    expect(pauses).to.deep.equal([500]);
  });

  it("pauses as a limit asks, else a second, doubled", async () => {
    portal.play(
      sendStatus(529, { error: { code: "overloaded", message: "later" } }, { "retry-after": "3" }),
      sendStatus(429, "Too many requests"),
      sendStatus(429, "Too many requests"),
      sendLines(blocks(1, 1)),
    );
    expect(await read(1, 1)).to.deep.equal([1]);
    // A limit holds every request off: what is left of it is waited for.
    const ms = pauses.filter((each) => each > 900);
    expect(ms[0]).to.be.within(2_900, 3_000);
    expect(ms.some((each) => each > 1_900 && each <= 2_000)).to.equal(true);
    expect(ms.some((each) => each > 3_900 && each <= 4_000)).to.equal(true);
  });

  it("tries again after faults of the server, and gives up after some", async () => {
    portal.play(
      sendStatus(503, { error: { code: "no_workers" } }),
      sendStatus(502, "<html>Bad gateway</html>"),
      sendStatus(503, "", { "retry-after": "7" }),
      sendLines(blocks(1, 1)),
    );
    expect(await read(1, 1)).to.deep.equal([1]);
    expect(pauses).to.deep.equal([500, 1_000, 7_000]);

    portal.play(sendStatus(503, "busy"));
    const failure = await failureOf(read(1, 1));
    expect(failure).to.be.instanceOf(PortalFailure);
    expect(failure).to.include({ kind: "unavailable" });
    expect((failure as Error).message).to.match(/^127\.0\.0\.1:\d+ failed 6 times in a row: HTTP 503: busy$/);

    const before = portal.asked.length;
    portal.play(sendStatus(500, { error: { code: "worker_failure" } }));
    expect(await failureOf(read(1, 1))).to.include({ kind: "unavailable" });
    expect(portal.asked.length - before).to.equal(3);

    portal.play(sendStatus(503, "", { "retry-after": "3600" }));
    expect(await failureOf(read(1, 1))).to.include({ kind: "unavailable" });
  });

  it("does not repeat what it is refused", async () => {
    const texts = [
      sendStatus(400, "unknown field `foo`"),
      sendStatus(404, { error: { code: "unknown_dataset", message: "no such dataset" } }),
    ];
    for (const text of texts) {
      portal.play(text);
      expect(await failureOf(read(1, 1))).to.include({ kind: "refused" });
    }
    expect(portal.asked).to.have.length(2);
  });

  it("asks again where the blocks are not there yet, but not for ever", async () => {
    portal.play(sendStatus(204, ""), sendStatus(204, ""), sendLines(blocks(1, 1)));
    expect(await read(1, 1)).to.deep.equal([1]);
    expect(pauses).to.deep.equal([]);
    portal.play(sendStatus(204, ""));
    expect(await failureOf(read(1, 1))).to.include({ kind: "unavailable" });
  });

  it("refuses blocks out of order and outside of the range", async () => {
    for (const lines of [[block(2), block(1)], [block(1), block(1)], [block(9)], [block(0)]]) {
      portal.play(sendLines(lines));
      expect(await failureOf(read(1, 3)), JSON.stringify(lines)).to.include({ kind: "malformed" });
    }
  });

  it("gives up a stream that stalls, whatever bytes it sends", async () => {
    portal.play(
      (response) => {
        response.writeHead(200);
        response.write(toLines(blocks(1, 2)));
        const timer = setInterval(() => response.write(" "), 5);
        response.on("close", () => clearInterval(timer));
      },
      sendLines(blocks(3, 3)),
    );
    const idle = { ...clock, sleep: systemClock.sleep };
    expect(await read(1, 3, { idleMs: 60, clock: idle })).to.deep.equal([1, 2, 3]);
    portal.play(() => {});
    const silent = open({ timeoutMs: 30, clock: idle }).metadata(AbortSignal.timeout(200));
    expect(await failureOf(silent)).to.have.property("name", "TimeoutError");
  });

  it("waits for a head that is not known yet, and keeps the highest", async () => {
    const client = open();
    portal.play(
      sendStatus(200, "null"),
      sendStatus(200, "null"),
      sendStatus(200, { number: 7, hash: "0x7" }),
    );
    expect(await client.finalizedHead(signal)).to.deep.equal({ number: 7, hash: "0x7" });
    expect(pauses).to.deep.equal([100, 500]);
    portal.play(sendStatus(200, { number: 5, hash: "0x5" }));
    expect(await client.finalizedHead(signal)).to.deep.equal({ number: 7, hash: "0x7" });
    const heads = { "x-sqd-finalized-head-number": "9", "x-sqd-finalized-head-hash": "0x9" };
    portal.play(sendLines(blocks(1, 1), heads), sendStatus(200, "null"));
    await drain(client.stream({ fromBlock: 1, toBlock: 1, query: QUERY, signal }));
    expect(await client.finalizedHead(signal)).to.deep.equal({ number: 9, hash: "0x9" });
  });

  it("gives null where no head ever comes, and the dataset's first block", async () => {
    portal.play(sendStatus(200, "null"));
    expect(await open().finalizedHead(signal)).to.equal(null);
    expect(pauses).to.deep.equal([100, 500, 1_000, 2_000]);
    portal.play(sendStatus(200, { dataset: "some-chain", aliases: [], real_time: true, start_block: 4 }));
    expect(await open().metadata(signal)).to.deep.equal({ dataset: "some-chain", startBlock: 4 });
    portal.play(sendStatus(200, { dataset: "some-chain", aliases: [], real_time: true }));
    expect(await open().metadata(signal)).to.deep.equal({ dataset: "some-chain", startBlock: 0 });
  });

  it("sends two requests a second at most, whoever asks", async () => {
    portal.play((response, { body }) => sendLines([block(Number(body?.fromBlock))])(response, {} as never));
    const times: number[] = [];
    let now = 0;
    const slow: Clock = {
      ...clock,
      now: () => now,
      wallNow: () => now,
      async sleep(ms, ended) {
        if (ms >= 20_000) return systemClock.sleep(ms, ended);
        now += ms;
      },
    };
    const client = createPortalClient(portal.url, {
      clock: slow,
      timeoutMs: 30_000,
      fetch: (url, init) => {
        times.push(now);
        return fetch(url, init);
      },
    });
    const streams = [1, 11, 21].map((from) =>
      drain(client.stream({ fromBlock: from, toBlock: from + 1, query: QUERY, signal })),
    );
    await Promise.all(streams);
    expect(times).to.have.length(6);
    for (const [i, time] of times.entries()) expect(time).to.be.at.least(i * 500);
  });

  it("says no key of its URL", async () => {
    const secret = "0123456789abcdef";
    portal.play(sendStatus(404, `no dataset at ${portal.url}/${secret}`));
    const client = createPortalClient(`${portal.url}/${secret}`, { gapMs: 0 });
    const failure = (await failureOf(client.metadata(signal))) as Error;
    expect(failure.message)
      .to.match(/HTTP 404/)
      .and.not.include(secret);
  });

  it("stops with the signal", async () => {
    const stop = new AbortController();
    portal.play((response) => {
      response.writeHead(200);
      response.write(toLines(blocks(1, 2)));
      setTimeout(() => stop.abort(new Error("enough")), 20);
    });
    const stream = open().stream({ fromBlock: 1, toBlock: 9, query: QUERY, signal: stop.signal });
    expect(await failureOf(drain(stream))).to.have.property("message", "enough");
    expect(portal.asked).to.have.length(1);
  });
});

async function drain(stream: AsyncIterable<unknown>): Promise<number> {
  let parts = 0;
  for await (const _ of stream) parts += 1;
  return parts;
}
