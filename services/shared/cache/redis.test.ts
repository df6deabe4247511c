import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
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
    const cache = await openCache({ redisUrl: url });
    await untilHealthy(cache);
    return { cache, pass: (ms) => new Promise((resolve) => setTimeout(resolve, ms)) };
  });
}

const binary = spawnSync("redis-server", ["--version"]).status === 0;

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

describe("redis cache in an outage", function () {
  this.timeout(30_000);
  let dir: string;
  let port: number;
  let cache: Cache;
  let server: ChildProcess | undefined;

  const startServer = async (): Promise<void> => {
    const args = [
      "--port",
      String(port),
      "--bind",
      "127.0.0.1",
      "--save",
      "",
      "--appendonly",
      "no",
      "--dir",
      dir,
    ];
    const child = spawn("redis-server", args, { stdio: ["ignore", "pipe", "inherit"] });
    server = child;
    for await (const chunk of child.stdout) if (String(chunk).includes("Ready to accept connections")) break;
  };
  const killServer = async (): Promise<void> => {
    if (server === undefined) return;
    server.kill("SIGKILL");
    if (server.exitCode === null && server.signalCode === null) await once(server, "exit");
    server = undefined;
  };

  beforeEach(async function () {
    if (!binary) {
      console.log("      pending: the program redis-server is not installed");
      return this.skip();
    }
    dir = await mkdtemp(join(tmpdir(), "redis-"));
    port = await freePort();
    cache = await openRedisCache({ url: `redis://127.0.0.1:${port}`, commandTimeoutMs: 100 });
  });
  afterEach(async () => {
    if (!binary) return;
    await cache.close();
    await killServer();
    await rm(dir, { recursive: true, force: true });
  });

  it("misses while the server is away, and is back with it", async () => {
    expect(await cache.get("a")).to.equal(undefined);
    await startServer();
    await untilHealthy(cache);
    await cache.set("a", "1", LONG);
    expect(await cache.get("a")).to.equal("1");

    await killServer();
    await cache.set("a", "2", LONG);
    expect(await cache.getMany(["a", "b"])).to.deep.equal([undefined, undefined]);
    await cache.delete(["a"]);
    expect(cache.healthy()).to.equal(false);

    await startServer();
    await untilHealthy(cache);
    await cache.set("a", "3", LONG);
    expect(await cache.get("a")).to.equal("3");
  });

  it("misses while the server hangs: callers wait together, then not at all", async () => {
    await startServer();
    await untilHealthy(cache);
    await cache.set("a", "1", LONG);
    // By number: the kill method of a child works once only on Deno.
    const pid = server?.pid as number;
    process.kill(pid, "SIGSTOP");
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
    process.kill(pid, "SIGCONT");
    await untilHealthy(cache);
    expect(await cache.get("a")).to.equal("1");
  });

  it("gives up a connection that stays silent, and makes a new one", async () => {
    await startServer();
    const failures: Error[] = [];
    let connections = 0;
    // A network that swallows everything on the first connection, and none of it later.
    const { connect, createServer: listen } = await import("node:net");
    let silent = false;
    const network = listen((inbound) => {
      connections++;
      const mine = connections;
      const outbound = connect(port, "127.0.0.1");
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

async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
