import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { Worker } from "node:worker_threads";
import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { createPaceMemory } from "../../portal/pace.ts";
import { sendStatus, startScriptedPortal } from "../../portal/testkit/scripted-portal.ts";
import type { RpcCall } from "../../rpc-client/endpoint/transport.ts";
import { RpcFailure } from "../../rpc-client/testkit/fake-network.ts";
import { type EvmSource, RangeTooLarge, UpstreamError } from "../port.ts";
import { createEvmSource } from "../source/source.ts";
import { answerHonestly, type FakeChain, fakeLog, TOPIC } from "../testkit/fake-chain.ts";
import { readInThread, type ThreadConfig } from "./thread.ts";
import { startThread, startThreadAhead } from "./thread-start.ts";

const FILTER = { topics: [TOPIC] };
const RANGE = { fromBlock: 1, toBlock: 40 };

describe("readInThread", () => {
  const chain: FakeChain = {
    head: 100,
    chainId: 8453,
    fork: 0,
    logs: Array.from({ length: 50 }, (_, i) => fakeLog(i + 1)),
  };
  let server: http.Server;
  let refuse: RpcFailure | undefined;
  let config: ThreadConfig;
  let lines: string[];
  let local: EvmSource;
  /** Methods that were called in this thread. */
  let calledHere: string[];
  let reader: EvmSource;

  beforeEach(async () => {
    refuse = undefined;
    server = http.createServer(async (request, response) => {
      let body = "";
      for await (const part of request) body += part;
      const requested = JSON.parse(body) as (RpcCall & { id: number }) | (RpcCall & { id: number })[];
      const calls = Array.isArray(requested) ? requested : [requested];
      const results = answerHonestly(chain, calls);
      const replies = calls.map(({ id, method }, i) => {
        const result = method === "eth_getLogs" && refuse !== undefined ? refuse : results[i];
        return result instanceof RpcFailure ? { id, error: { ...result } } : { id, result };
      });
      response.end(JSON.stringify(Array.isArray(requested) ? replies : replies[0]));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const urls = [`http://127.0.0.1:${(server.address() as AddressInfo).port}`];
    lines = [];
    config = { chainId: 8453, urls, log: (message) => lines.push(message) };
    calledHere = [];
    local = spyOn(createEvmSource({ chainId: 8453, urls }), calledHere);
  });

  afterEach(async () => {
    await reader.close();
    await local.close();
    server.closeAllConnections();
    server.close();
  });

  function spyOn(source: EvmSource, requested: string[]): EvmSource {
    return new Proxy(source, {
      get(target, name: keyof EvmSource) {
        const value = target[name];
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          requested.push(name);
          return (value as (...args: unknown[]) => unknown)(...args);
        };
      },
    });
  }

  async function waitForThread(): Promise<void> {
    for (;;) {
      const before = calledHere.length;
      await reader.headers([1]);
      if (calledHere.length === before) break;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    calledHere.length = 0;
  }

  it("reads in the main thread until the worker is up, and there from then on, with equal results", async () => {
    reader = readInThread(local, config);
    const readAll = () =>
      Promise.all([reader.logs(RANGE, FILTER), reader.headers([1, 2, 101]), reader.blocks([3, 4])]);
    const here = await readAll();
    expect(calledHere).to.deep.equal(["logs", "headers", "blocks"]);
    await waitForThread();
    expect(await readAll()).to.deep.equal(here);
    expect(here[0]).to.have.length(40);
    expect(calledHere).to.deep.equal([]);
    expect((await reader.head()).number).to.equal(100);
    expect(calledHere).to.deep.equal(["head"]);
  });

  it("uses a prestarted thread", async () => {
    startThreadAhead();
    const ahead = startThread();
    reader = readInThread(local, { ...config, startWorker: () => ahead });
    await waitForThread();
    expect(await reader.logs(RANGE, FILTER)).to.have.length(40);
    expect(calledHere).to.deep.equal([]);
    // It can be taken once.
    const other = startThread();
    expect(other).to.not.equal(ahead);
    await other.terminate();
  });

  it("keeps the class and message of failures", async () => {
    reader = readInThread(local, config);
    await waitForThread();
    refuse = new RpcFailure(
      -32000,
      "query returned more than 10000 results. Try with this block range [0x1, 0x10].",
    );
    const tooLarge = await failureOf(reader.logs(RANGE, FILTER));
    expect(tooLarge).to.be.instanceOf(RangeTooLarge);
    expect((tooLarge as RangeTooLarge).suggested).to.deep.equal({ fromBlock: 1, toBlock: 16 });
    refuse = new RpcFailure(-32001, "distance to target block exceeds maximum proof window");
    expect(await failureOf(reader.logs(RANGE, FILTER))).to.be.instanceOf(UpstreamError);
    expect(calledHere).to.deep.equal([]);
  });

  it("logs the thread's messages in the main thread", async () => {
    reader = readInThread(local, config);
    await waitForThread();
    refuse = new RpcFailure(-32000, "invalid api key");
    await failureOf(Promise.race([reader.logs(RANGE, FILTER), waitForLine()]));
    expect(lines[0]).to.equal("endpoint set aside");
  });

  it("repeats in the main thread what was pending when the worker died, and everything after", async () => {
    const dying = `const { parentPort } = require("node:worker_threads");
      parentPort.once("message", () =>
        parentPort.once("message", () => { throw new Error("no memory left"); }));
      parentPort.postMessage({ kind: "ready" });`;
    const worker = new Worker(dying, { eval: true });
    reader = readInThread(local, { ...config, startWorker: () => worker });
    // Its word that it is ready, which the reader has heard before us.
    await once(worker, "message");
    const [logs, blocks] = await Promise.all([reader.logs(RANGE, FILTER), reader.blocks([3])]);
    expect([logs.length, blocks.length]).to.deep.equal([40, 1]);
    expect(await reader.blocks([4])).to.have.length(1);
    expect(calledHere).to.deep.equal(["logs", "blocks", "blocks"]);
    expect(lines).to.deep.equal(["the reader thread failed: reading continues in the main thread"]);
  });

  it("does without a thread that does not start", async () => {
    const startWorker = () => new Worker("throw new Error('no')", { eval: true });
    reader = readInThread(local, { ...config, startWorker });
    await waitForLine().catch(() => {});
    expect(await reader.logs(RANGE, FILTER)).to.have.length(40);
    expect(calledHere).to.deep.equal(["logs"]);
    expect(lines).to.have.length(1);
  });

  it("asks a portal at the pace of all who share its memory", async () => {
    const portal = await startScriptedPortal();
    portal.play(sendStatus(404, "no such dataset"));
    const pace = createPaceMemory();
    try {
      reader = readInThread(local, { ...config, portal: { url: portal.url, options: { pace } } });
      await waitForThread();
      const { signal } = new AbortController();
      for await (const _ of reader.history?.(RANGE, FILTER, signal) ?? []) expect.fail("404 has no blocks");
      expect(portal.asked).to.have.length(1);
      expect(Number(pace[0])).to.be.greaterThan(0);
    } finally {
      await portal.close();
    }
  });

  it("rejects pending calls when it is closed, and leaves the other source open", async () => {
    reader = readInThread(local, config);
    await waitForThread();
    const owed = failureOf(reader.logs(RANGE, FILTER));
    await reader.close();
    expect(await owed).to.be.instanceOf(UpstreamError);
    expect(calledHere).to.deep.equal([]);
    expect(await local.logs(RANGE, FILTER)).to.have.length(40);
  });

  async function waitForLine(): Promise<never> {
    while (lines.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    throw new Error("a line came");
  }
});

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}
