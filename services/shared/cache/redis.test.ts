import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { describeWithProcesses } from "../testkit/describe.ts";
import { createRedisOrSkip, type RedisServer } from "../testkit/redis-server.ts";
import { openCache } from "./open.ts";
import type { Cache } from "./port.ts";
import { openRedisCache } from "./redis.ts";
import { describeCache } from "./suite.ts";

const url = process.env.REDIS_URL;
const LONG = { ttlMs: 60_000 };

if (url === undefined) {
  describe("cache contract: redis", () => {
    it("pending: REDIS_URL is not set, so there is no server to run against", function () {
      this.skip();
    });
  });
} else {
  describeCache("redis", async () => {
    // Patient: a miss of a server that is slow for want of a processor would be no fault of the cache.
    const cache = await openCache({ redisUrl: url, commandTimeoutMs: 5_000 });
    await untilHealthy(cache);
    return { cache, advance: (ms) => new Promise((resolve) => setTimeout(resolve, ms)) };
  });
}

describe("redis cache without a server", () => {
  it("misses at once, and closes", async () => {
    const failures: Error[] = [];
    const cache = await openCache({
      redisUrl: "redis://127.0.0.1:9",
      onFailure: (error) => failures.push(error),
    });
    await cache.set("a", "1", LONG);
    expect(await cache.getMany(["a", "b"])).to.deep.equal([undefined, undefined]);
    expect(cache.healthy()).to.equal(false);
    while (failures.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await cache.close();
  });
});

describeWithProcesses("redis cache in an outage", () => {
  let cache: Cache | undefined;
  let server: RedisServer | undefined;

  beforeEach(async function () {
    server = await createRedisOrSkip(this);
    cache = await openRedisCache({ url: server.url, commandTimeoutMs: 100 });
  });
  afterEach(async () => {
    await cache?.close();
    await server?.remove();
  });
  /** What beforeEach made. */
  const made = () => ({ cache: cache as Cache, server: server as RedisServer });

  it("misses while the server is down, and recovers with it", async () => {
    const { cache, server } = made();
    expect(await cache.get("a")).to.equal(undefined);
    await server.start();
    await untilHealthy(cache);
    await cache.set("a", "1", LONG);
    expect(await cache.get("a")).to.equal("1");

    await server.kill();
    await cache.set("a", "2", LONG);
    expect(await cache.getMany(["a", "b"])).to.deep.equal([undefined, undefined]);
    await cache.delete(["a"]);
    expect(cache.healthy()).to.equal(false);

    await server.start();
    await untilHealthy(cache);
    await cache.set("a", "3", LONG);
    expect(await cache.get("a")).to.equal("3");
  });

  it("misses while the server hangs: callers wait together, then not at all", async () => {
    const { cache, server } = made();
    await server.start();
    await untilHealthy(cache);
    await cache.set("a", "1", LONG);
    server.freeze();
    const stuck = await Promise.all(Array.from({ length: 50 }, () => cache.get("a")));
    expect(stuck.every((value) => value === undefined)).to.equal(true);
    expect(cache.healthy()).to.equal(false);
    // No timer may be needed to answer now.
    const answers = Promise.all(Array.from({ length: 50 }, () => cache.get("a")));
    expect(
      await Promise.race([
        answers.then(() => "answered"),
        new Promise((resolve) => setImmediate(resolve, "waits")),
      ]),
    ).to.equal("answered");
    server.thaw();
    await untilHealthy(cache);
    expect(await cache.get("a")).to.equal("1");
  });

  it("drops a connection that stays silent, and opens a new one", async () => {
    const { server } = made();
    await server.start();
    const failures: Error[] = [];
    let connections = 0;
    // A network that swallows everything on the first connection, and none of it later.
    const { connect, createServer: listen } = await import("node:net");
    let silent = false;
    const network = listen((inbound) => {
      connections++;
      const mine = connections;
      const outbound = connect(server.port, "127.0.0.1");
      outbound.on("error", () => {});
      inbound.on("error", () => {}).on("close", () => outbound.destroy());
      inbound.on("data", (chunk) => {
        if (!(silent && mine === 1)) outbound.write(chunk);
      });
      outbound.pipe(inbound);
    });
    await once(network.listen(0, "127.0.0.1"), "listening");
    const { port: networkPort } = network.address() as AddressInfo;
    const through = await openRedisCache({
      url: `redis://127.0.0.1:${networkPort}`,
      commandTimeoutMs: 20,
      onFailure: (error) => failures.push(error),
    });
    await untilHealthy(through);
    silent = true;
    expect(await through.get("a")).to.equal(undefined);
    await untilHealthy(through);
    expect(connections).to.equal(2);
    expect(failures.map((error) => error.message)).to.include("Redis did not answer within 20 ms");
    await through.close();
    network.close();
  });
});

/** Calls until it answers; mocha's timeout is the bound. */
async function untilHealthy(cache: Cache): Promise<void> {
  do {
    await new Promise((resolve) => setTimeout(resolve, 10));
    await cache.get("anything");
  } while (!cache.healthy());
}
