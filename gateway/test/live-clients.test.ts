import { connect, type Socket } from "node:net";
import { expect } from "chai";
import { afterEach, describe, it } from "mocha";
import { EventReader } from "../../services/shared/testkit/event-reader.ts";
import {
  BOOTSTRAP_KEY,
  startTestGateway,
  type TestGateway,
  type TestGatewayOptions,
  UNLIMITED,
} from "../testkit/gateway.ts";
import { LiveTable } from "../testkit/live-table.ts";
import { until } from "../testkit/until.ts";

const POOL = "/evm/dexb/v3/pool?pool_address=0xd0b53d9277642d899df5c87a3966a349a798f224";
const BIG = "x".repeat(100_000);

describe("gateway: clients of live streams", () => {
  let gateway: TestGateway;
  let pool: LiveTable;
  const readers: EventReader[] = [];
  const sockets: Socket[] = [];
  const start = async (options: TestGatewayOptions = {}) => {
    gateway = await startTestGateway(options);
    pool = new LiveTable(gateway.evmDex);
    pool.rows = [["one"]];
  };
  afterEach(() => {
    for (const reader of readers.splice(0)) reader.close();
    for (const socket of sockets.splice(0)) socket.destroy();
    return gateway.stop();
  });
  const listen = (key = BOOTSTRAP_KEY) => {
    const reader = new EventReader(`${gateway.url}${POOL}`, { "X-API-KEY": key });
    readers.push(reader);
    return reader;
  };
  /** Sends its request and reads nothing. */
  const listenDeaf = () => {
    const { port, hostname } = new URL(gateway.url);
    const socket = connect(Number(port), hostname);
    socket.on("error", () => {});
    socket.pause();
    socket.write(
      `GET ${POOL} HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${BOOTSTRAP_KEY}\r\nAccept: text/event-stream\r\n\r\n`,
    );
    sockets.push(socket);
    return socket;
  };
  const slowCount = async () =>
    Number(/^gateway_live_slow_total\{.*\} (\d+)$/m.exec(await gateway.metrics())?.[1] ?? 0);
  /** Blocks of 100 kB each, until a client has missed events; the reader sees each. */
  const mineUntilSlow = async (reader: EventReader) => {
    for (let i = 0; (await slowCount()) === 0; i += 1) {
      const seen = reader.events.length;
      pool.mine([[`${i}${BIG}`]]);
      await reader.count(seen + 1);
    }
  };

  it("that do not read miss events, hold up nobody, and get the table as it is when they read again", async () => {
    await start();
    const witness = listen();
    const slow = listen();
    await Promise.all([witness.count(1), slow.count(1)]);
    slow.pause();
    await mineUntilSlow(witness);
    const seen = slow.events.length;
    for (let i = 0; i < 50; i += 1) {
      const before = witness.events.length;
      pool.mine([[`later ${i}${BIG}`]]);
      await witness.count(before + 1);
    }
    expect(slow.events.length).to.equal(seen);
    slow.resume();
    await until(() => slow.named("snapshot").some(({ data }) => data.reason === "slow"));
    const snapshot = slow.named("snapshot").at(-1);
    expect(snapshot?.data.data).to.deep.equal([[`later 49${BIG}`]]);
    // Of what was sent in between, it got what fits into the buffers of two systems.
    expect(slow.events.length).to.be.lessThan(witness.events.length - 49);
    pool.mine([["end"]]);
    await until(() => slow.events.at(-1)?.data.rows?.[0]?.[0] === "end");
    expect(witness.named("change").map(({ data }) => data.block)).to.deep.equal(
      witness.named("change").map((_, at) => 101 + at),
    );
  });

  it("that never read are cut, and a gateway that stops does not wait for them", async () => {
    await start({ parts: { live: { times: { stallMs: 200 }, tickMs: 20 } } });
    const witness = listen();
    await witness.count(1);
    listenDeaf();
    await until(async () => /^gateway_live_streams\{.*\} 2$/m.test(await gateway.metrics()));
    await mineUntilSlow(witness);
    await until(async () => /^gateway_live_streams\{.*\} 1$/m.test(await gateway.metrics()));
  });

  it("pay for the time that they listen, and are told when their limit is used up", async () => {
    const key = { ratePerSecond: 0.001, burst: 4, dailyQuota: null };
    await start({
      config: { limits: { ...UNLIMITED, key } },
      parts: { live: { times: { chargeMs: 40 }, tickMs: 10 } },
    });
    const id = "listener";
    const reader = listen(gateway.keys.add({ id }));
    await until(() => reader.isOver);
    expect(reader.response?.headers.ratelimit).to.match(/^"burst";r=3;/);
    const [snapshot, error] = reader.events;
    expect([snapshot?.name, error?.name]).to.deep.equal(["snapshot", "error"]);
    expect(error?.data).to.include({ error: "rate_limited" });
    expect(reader.events.length).to.equal(2);
    expect(reader.response?.complete).to.equal(true);
  });

  it("end with their key: revoked, suspended, or without the scope", async () => {
    await start({ parts: { live: { times: { chargeMs: 40 }, tickMs: 10 } } });
    const changes = { revokedAt: 1, suspendedAt: 1, scopes: ["solana" as const] };
    const streams = Object.keys(changes).map((id) => listen(gateway.keys.add({ id })));
    await Promise.all(streams.map((reader) => reader.count(1)));
    for (const [hash, record] of gateway.keys.records) {
      const field = record.id as keyof typeof changes;
      gateway.keys.records.set(hash, { ...record, [field]: changes[field] });
    }
    await until(() => streams.every((reader) => reader.isOver));
    const ends = streams.map(({ events }) => [events.at(-1)?.name, events.at(-1)?.data.error]);
    expect(ends).to.deep.equal([
      ["error", "unauthorized"],
      ["error", "forbidden"],
      ["error", "forbidden"],
    ]);
  });
});
