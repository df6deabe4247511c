import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { EventReader } from "../../services/shared/testkit/event-reader.ts";
import { expectError } from "../testkit/expect-error.ts";
import {
  BOOTSTRAP_KEY,
  startTestGateway,
  type TestGateway,
  type TestGatewayOptions,
} from "../testkit/gateway.ts";
import { LiveTable } from "../testkit/live-table.ts";
import { until } from "../testkit/until.ts";

const POOL = "/evm/dexb/v3/pool?pool_address=0xd0b53d9277642d899df5c87a3966a349a798f224";
const EVENTS = { Accept: "text/event-stream" };

describe("gateway: live streams", () => {
  let gateway: TestGateway;
  let pool: LiveTable;
  const readers: EventReader[] = [];

  const start = async (options: TestGatewayOptions = {}) => {
    await gateway?.stop();
    gateway = await startTestGateway(options);
    pool = new LiveTable(gateway.evmDex);
    pool.rows = [["one"]];
  };
  beforeEach(() => start());
  afterEach(() => {
    for (const reader of readers.splice(0)) reader.close();
    return gateway.stop();
  });
  const listen = (path = POOL, headers: Record<string, string> = {}) => {
    const reader = new EventReader(`${gateway.url}${path}`, { "X-API-KEY": BOOTSTRAP_KEY, ...headers });
    readers.push(reader);
    return reader;
  };

  it("begin with the whole table, and tell each change with its block and hash", async () => {
    const reader = listen();
    const [snapshot] = await reader.count(1);
    expect(snapshot?.name).to.equal("snapshot");
    expect(snapshot?.id).to.equal("8453-100-0xa100-100-xa100-1");
    expect(snapshot?.data).to.include({
      chain: 8453,
      block: 100,
      hash: "0xa100",
      time: 1_000_100,
      reason: "begin",
    });
    expect(snapshot?.data.data).to.deep.equal([["one"]]);
    expect(snapshot?.data.columns[0]).to.deep.equal({ name: "createdAt", type: "DateTime" });
    pool.mine([["two"]]);
    const [, change] = await reader.count(2);
    expect(change).to.deep.equal({
      name: "change",
      id: "8453-101-0xa101-101-xa101-1",
      data: { chain: 8453, block: 101, hash: "0xa101", time: 1_000_101, rows: [["two"]], removed: [] },
    });
    pool.mine();
    const [, , head] = await reader.count(3);
    expect(head).to.deep.equal({
      name: "head",
      id: "8453-102-0xa102-102-xa102-1",
      data: { chain: 8453, block: 102, hash: "0xa102", time: 1_000_102 },
    });
  });

  it("come with headers that keep proxies from holding them back", async () => {
    const reader = listen();
    await reader.count(1);
    const { headers, statusCode } = reader.response as NonNullable<typeof reader.response>;
    expect(statusCode).to.equal(200);
    expect(headers).to.include({
      "content-type": "text/event-stream",
      "cache-control": "no-store, no-transform",
      "x-accel-buffering": "no",
      "access-control-allow-origin": "*",
    });
    expect(headers["x-session-id"]).to.be.a("string");
    expect(reader.retryMs).to.equal(500);
    const head = await gateway.get(POOL, { method: "HEAD", headers: EVENTS });
    expect(head.headers.get("content-type")).to.equal("text/event-stream");
  });

  it("share one request a head and one subscription among all that listen to a table", async () => {
    const all = Array.from({ length: 20 }, (_, i) => listen(i % 2 === 0 ? POOL : `${POOL}&chain_id=8453`));
    await Promise.all(all.map((reader) => reader.count(1)));
    expect(gateway.evmDex.headListeners.size).to.equal(1);
    // Each of the two is asked for again when the first head is told: it may have changed in between.
    await until(() => pool.asked === 4);
    const before = pool.asked;
    pool.mine([["two"]]);
    await Promise.all(all.map((reader) => reader.count(2)));
    // Two spellings are two tables.
    expect(pool.asked - before).to.equal(2);
    expect(await gateway.metrics())
      .to.match(/^gateway_live_streams\{.*\} 20$/m)
      .and.match(/^gateway_live_tables\{.*\} 2$/m);
    for (const reader of all) reader.close();
    await until(async () => /^gateway_live_streams\{.*\} 0$/m.test(await gateway.metrics()));
  });

  it("name the blocks that a reorg took back, and what it changed", async () => {
    const reader = listen();
    await reader.count(1);
    pool.mine([["two"]]);
    await reader.count(2);
    pool.mine([["three"]]);
    await reader.count(3);
    pool.takeBack(2);
    pool.mine([["other"]], "b");
    const [, , , reorg] = await reader.count(4);
    expect(reorg?.name).to.equal("reorg");
    expect(reorg?.id).to.equal("8453-101-0xb101-101-xb101-1");
    expect(reorg?.data).to.deep.equal({
      ...{ chain: 8453, block: 101, hash: "0xb101", time: 1_000_101 },
      takenBack: [
        { block: 102, hash: "0xa102" },
        { block: 101, hash: "0xa101" },
      ],
      rows: [["other"]],
      removed: [],
    });
    pool.mine([["next"]], "b");
    expect((await reader.count(5))[4]?.name).to.equal("change");
  });

  it("see a reorg behind a longer chain too", async () => {
    const reader = listen();
    await reader.count(1);
    pool.mine([["two"]]);
    await reader.count(2);
    pool.takeBack(1);
    // Both blocks come before anybody is told.
    const tell = pool.tell;
    pool.tell = () => {};
    pool.mine([["a"]], "b");
    pool.tell = tell;
    pool.mine([["b"]], "b");
    const [, , reorg] = await reader.count(3);
    expect(reorg?.name).to.equal("reorg");
    expect(reorg?.data.block).to.equal(102);
    expect(reorg?.data.takenBack).to.deep.equal([{ block: 101, hash: "0xa101" }]);
  });

  describe("resumed by Last-Event-ID", () => {
    const away = async (meanwhile: () => Promise<unknown> | unknown) => {
      const first = listen();
      const witness = listen();
      await Promise.all([first.count(1), witness.count(1)]);
      const lastId = first.lastId as string;
      first.close();
      await meanwhile();
      await witness.count(2);
      return { lastId, witness, again: (id = lastId) => listen(POOL, { "Last-Event-ID": id }) };
    };

    it("get what they missed, each once", async () => {
      const { again, witness } = await away(() => pool.mine([["two"]]));
      pool.mine([["three"]]);
      await witness.count(3);
      const reader = again();
      await reader.count(2);
      pool.mine([["four"]]);
      const events = await reader.count(3);
      expect(events.map(({ name, data }) => [name, data.block])).to.deep.equal([
        ["change", 101],
        ["change", 102],
        ["change", 103],
      ]);
    });

    it("are told of a reorg that they missed", async () => {
      const { again } = await away(() => {
        pool.takeBack(1);
        pool.mine([["two"]], "b");
      });
      const [reorg] = await again().count(1);
      expect(reorg?.name).to.equal("reorg");
      expect(reorg?.data.takenBack).to.deep.equal([{ block: 100, hash: "0xa100" }]);
    });

    it("get nothing but the head where nothing has happened", async () => {
      const { witness, again } = await away(() => pool.mine([["two"]]));
      const [head] = await again(witness.lastId).count(1);
      expect([head?.name, head?.id]).to.deep.equal(["head", witness.lastId]);
    });

    it("get the whole table where the gap cannot be filled", async () => {
      const { again } = await away(() => pool.mine([["two"]]));
      for (const id of ["8453-3-0xa3-old", "8453-100-0xa100-other", "1-100-0xa100-x", "nonsense"]) {
        const [snapshot] = await again(id).count(1);
        expect([snapshot?.name, snapshot?.data.reason], id).to.deep.equal(["snapshot", "gap"]);
      }
    });

    it("learn at another gateway too that their block was taken back", async () => {
      const { again } = await away(() => {
        pool.takeBack(1);
        pool.mine([["two"]], "b");
      });
      const [reorg, snapshot] = await again("8453-100-0xelsewhere-x").count(2);
      expect(reorg).to.deep.include({ name: "reorg", id: undefined });
      expect(reorg?.data.takenBack).to.deep.equal([{ block: 100, hash: "0xelsewhere" }]);
      expect([snapshot?.name, snapshot?.data.reason]).to.deep.equal(["snapshot", "reorg"]);
    });
  });

  describe("refused", () => {
    it("as any request, before the first event", async () => {
      const absent = listen(POOL, { "X-API-KEY": "unknown" });
      await until(() => absent.isOver);
      expect(absent.response?.statusCode).to.equal(401);
      await expectError(await gateway.get("/evm/dexb/v3/pool", { headers: EVENTS }), "bad_request");
    });

    it("where the endpoint, the format or the page cannot be live", async () => {
      const refused: [string, RegExp][] = [
        ["/evm/chains", /no live form/],
        [`${POOL}&format=csv`, /Leave out format/],
        [
          "/api/v1/solana/token-transactions?token_address=So11111111111111111111111111111111111111112&days=1&offset=10",
          /offset must be 0/,
        ],
      ];
      for (const [path, message] of refused) {
        const answer = await gateway.get(path, { headers: EVENTS });
        expect(answer.status).to.equal(400);
        expect(((await answer.json()) as { message: string }).message).to.match(message);
      }
    });

    it("with the service's own error where it has no such table", async () => {
      gateway.evmDex.answer = (_req, res) => {
        res.writeHead(404, { "Content-Type": "application/json" });
        res.end(JSON.stringify({ error: "not_found", message: "No pool is known.", session: "x" }));
      };
      await expectError(await gateway.get(POOL, { headers: EVENTS }), "not_found");
      new LiveTable(gateway.evmDex).rows = [["there now"]];
      await listen().count(1);
    });

    it("above the limits by key and in all", async () => {
      await start({ config: { liveStreams: 3, liveStreamsPerKey: 2 } });
      const [first] = [listen(), listen()];
      await until(() => readers.filter(({ events }) => events.length > 0).length === 2);
      const refused = await gateway.get(POOL, { headers: EVENTS });
      expect(refused.headers.get("retry-after")).to.equal("10");
      await expectError(refused, "rate_limited");
      first?.close();
      await until(async () => /^gateway_live_streams\{.*\} 1$/m.test(await gateway.metrics()));
      await listen().count(1);
    });

    it("where they are off", async () => {
      await start({ config: { liveStreams: 0 } });
      await expectError(await gateway.get(POOL, { headers: EVENTS }), "bad_request");
    });
  });

  it("tell an outage of the service once, as an error, and go on behind it", async () => {
    await start({ parts: { heads: { outageMs: 100 } } });
    const reader = listen();
    await reader.count(1);
    await gateway.evmDex.stop();
    const [, error] = await reader.count(2);
    expect(error?.name).to.equal("error");
    expect(error?.data).to.include({ error: "unavailable" });
    expect(error?.data.session).to.equal(reader.response?.headers["x-session-id"]);
    await gateway.evmDex.restart();
    pool.mine([["two"]]);
    await until(() => reader.named("change").length === 1);
    expect(reader.named("error").length).to.equal(1);
    expect(reader.named("change")[0]?.data.rows).to.deep.equal([["two"]]);
  });

  it("tell an error of the service once, and the table when it answers again", async () => {
    const reader = listen();
    await reader.count(1);
    const { answer } = gateway.evmDex;
    gateway.evmDex.answer = (_req, res) => {
      res.writeHead(503, { "Content-Type": "application/json" });
      res.end(JSON.stringify({ error: "unavailable", message: "Not now.", session: "x" }));
    };
    pool.mine([["two"]]);
    const [, error] = await reader.count(2);
    expect(error?.data).to.include({ error: "unavailable", message: "Not now." });
    pool.mine([["three"]]);
    gateway.evmDex.answer = answer;
    pool.mine([["four"]]);
    await until(() => reader.named("change").length > 0);
    expect(reader.named("error").length).to.equal(1);
    expect(reader.events.at(-1)?.data.rows).to.deep.equal([["four"]]);
  });

  it("send a heartbeat while nothing happens", async () => {
    await start({ parts: { live: { times: { heartbeatMs: 30 }, tickMs: 10 } } });
    const reader = listen();
    await until(() => reader.comments >= 3);
    expect(reader.events.length).to.equal(1);
  });

  it("end in a way that clients understand when the gateway stops, which is soon", async () => {
    const reader = listen();
    await reader.count(1);
    const stopped = gateway.stop();
    await until(() => reader.isOver);
    await stopped;
    expect(reader.events.at(-1)).to.deep.equal({ name: "end", id: undefined, data: { reason: "shutdown" } });
    expect(reader.retryMs).to.be.within(500, 3_000);
    expect(reader.response?.complete, "not cut").to.equal(true);
    const line = gateway.lines.find(({ live }) => live === true);
    expect(line).to.include({ status: 200, route: "/evm/dexb/v3/pool" });
    await start();
  });
});
