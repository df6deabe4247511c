import { expect } from "chai";
import { describe, it } from "mocha";
import type { RpcCall } from "../../rpc-client/endpoint/transport.ts";
import { createFakeClock, RpcFailure } from "../../rpc-client/testkit/fake-network.ts";
import { UpstreamError } from "../port.ts";
import { answerHonestly, type FakeChain, fakeHash, TOPIC } from "../testkit/fake-chain.ts";
import { createChain, failure, honest, isCheck, setUpSource, whenAsked } from "../testkit/source-setup.ts";
import { createEvmSource } from "./source.ts";

const FILTER = { topics: [TOPIC] };
const RANGE = { fromBlock: 1, toBlock: 50 };

describe("createEvmSource", () => {
  it("refuses a configuration without an http URL, and quotes no URL", async () => {
    expect(() => createEvmSource({ chainId: 1, urls: [] })).to.throw(TypeError, "at least one");
    expect(() => createEvmSource({ chainId: 1, urls: ["ftp://secret.test/key"] })).to.throw(
      TypeError,
      /^(?!.*secret).*number 1/,
    );
  });

  it("returns heads, headers, blocks, logs and calls of an honest node", async () => {
    const { source, clock } = setUpSource((chain) => ({ "a.test": honest(chain) }));
    expect((await clock.run(source.head())).number).to.equal(100);
    const tip = { number: 90, hash: fakeHash(90), time: 1_090 };
    expect(await clock.run(source.finalBlock(tip))).to.deep.equal({
      number: 36,
      hash: fakeHash(36),
      time: 1_036,
    });
    const headers = await clock.run(source.headers([5, 500, 7]));
    expect(headers.map((header) => header?.number ?? null)).to.deep.equal([5, null, 7]);
    expect((await clock.run(source.blocks([3]))).map((block) => block.senders)).to.deep.equal([[]]);
    expect(await clock.run(source.logs(RANGE, FILTER))).to.deep.equal(createChain().logs);
    const call = { to: `0x${"11".repeat(20)}`, data: "0x", block: 9 } as const;
    expect(await clock.run(source.call([call]))).to.deep.equal([`0x${"00".repeat(31)}2a`]);
  });

  it("sends large requests in batches of the configured size", async () => {
    const { source, clock, network } = setUpSource((chain) => ({ "a.test": honest(chain) }), {
      batchSize: 10,
    });
    await clock.run(source.headers(Array.from({ length: 95 }, (_, i) => i)));
    expect(network.requestsTo("a.test").map((request) => request.calls.length)).to.deep.equal([
      ...Array(9).fill(10),
      5,
    ]);
  });

  it("shrinks its batches to what the provider takes", async () => {
    const picky = (chain: FakeChain) =>
      whenAsked(chain, (calls) =>
        calls.length > 3
          ? {
              status: 400,
              body: JSON.stringify({
                error: { code: 31, message: "Batch of more than 3 requests are not allowed" },
              }),
            }
          : honest(chain)(calls),
      );
    const { source, clock, network } = setUpSource((chain) => ({ "a.test": picky(chain) }));
    expect(await clock.run(source.headers([1, 2, 3, 4, 5, 6, 7]))).to.have.length(7);
    expect(network.requestsTo("a.test").map((request) => request.calls.length)).to.deep.equal([7, 3, 3, 1]);
  });

  it("fails over at once and repeats only what is still missing", async () => {
    const half = (chain: FakeChain) =>
      whenAsked(chain, (calls) => ({
        results: answerHonestly(chain, calls).map((result, i) =>
          i % 2 === 0 ? result : new RpcFailure(-32000, "busy"),
        ),
      }));
    const { source, clock, network } = setUpSource((chain) => ({
      "a.test": half(chain),
      "b.test": honest(chain),
    }));
    const headers = await clock.run(source.headers([1, 2, 3, 4]));
    expect(headers.map((header) => header?.number)).to.deep.equal([1, 2, 3, 4]);
    expect(
      network.requestsTo("b.test").map((request) => request.calls.map((call) => call.params[0])),
    ).to.deep.equal([["0x2", "0x4"]]);
    expect(clock.now()).to.equal(0);
  });

  it("puts an endpoint on the wrong chain aside with a log line", async () => {
    const { source, clock, network, lines } = setUpSource((chain) => ({
      "a.test": honest({ ...chain, chainId: 1 }),
      "b.test": honest(chain),
    }));
    expect((await clock.run(source.head())).number).to.equal(100);
    await clock.run(source.head());
    expect(network.requestsTo("a.test")).to.have.length(0);
    expect(lines.join()).to.match(/set aside.*a\.test.*chain id 1 where 8453/);
  });

  it("reports that no endpoint is left, naming hosts only", async () => {
    const { source, clock } = setUpSource((chain) => ({ "a.test": honest({ ...chain, chainId: 1 }) }));
    const error = await failure(clock.run(source.logs(RANGE, FILTER)));
    expect(error).to.be.instanceOf(UpstreamError);
    expect(error.message).to.match(/^chain 8453: eth_getLogs blocks 1-50 failed at a\.test: .*chain id 1/);
    expect(error.message).not.to.contain("key-0123456789");
  });

  it("waits for Retry-After, then continues", async () => {
    let refusals = 2;
    const { source, clock } = setUpSource((chain) => ({
      "a.test": whenAsked(chain, (calls) =>
        refusals-- > 0 ? { status: 429, body: "", headers: { "retry-after": "20" } } : honest(chain)(calls),
      ),
    }));
    expect(await clock.run(source.logs(RANGE, FILTER))).to.have.length(50);
    expect(clock.now()).to.be.within(40_000, 42_000);
  });

  it("throws an UpstreamError with the last cause when no endpoint responds in the total time", async () => {
    const { source, clock } = setUpSource((chain) => ({ "a.test": whenAsked(chain, () => "reset") }), {
      totalMs: 60_000,
    });
    const error = await failure(clock.run(source.head()));
    expect(error).to.be.instanceOf(UpstreamError);
    expect(error.message).to.match(
      /^chain 8453: eth_getBlockByNumber latest failed at a\.test: .*ECONNREFUSED/,
    );
    expect(clock.now()).to.be.within(60_000, 61_000);
  });

  it("opens the circuit after consecutive failures, probes it, and returns to the primary", async () => {
    let down = true;
    const { source, clock, network, events } = setUpSource(
      (chain) => ({
        "a.test": whenAsked(chain, (calls) => (down ? "reset" : honest(chain)(calls))),
        "b.test": honest(chain),
      }),
      { failuresToOpen: 3, openMs: 5_000 },
    );
    for (let i = 0; i < 10; i++) await clock.run(source.headers([i]));
    expect(network.requestsTo("a.test")).to.have.length(3);
    down = false;
    await clock.run(clock.sleep(5_001));
    await clock.run(source.headers([1]));
    await clock.run(clock.sleep(10));
    const before = network.requestsTo("b.test").length;
    await clock.run(source.headers([2]));
    expect(network.requestsTo("b.test")).to.have.length(before);
    expect(
      events
        .filter((event) => event.kind === "circuit")
        .map((event) => event.kind === "circuit" && event.open),
    ).to.deep.equal([true, false]);
  });

  it("keeps the circuit closed while failures are scattered", async () => {
    let count = 0;
    const { source, clock, network, events } = setUpSource(
      (chain) => ({
        "a.test": whenAsked(chain, (calls) => (count++ % 2 === 0 ? "reset" : honest(chain)(calls))),
        "b.test": honest(chain),
      }),
      { failuresToOpen: 3 },
    );
    for (let i = 0; i < 20; i++) await clock.run(source.headers([i]));
    expect(network.requestsTo("a.test")).to.have.length(20);
    expect(events.filter((event) => event.kind === "circuit")).to.have.length(0);
  });

  it("has fewer requests in flight after a rate limit", async () => {
    let refuse = true;
    let [inFlight, most] = [0, 0];
    const chain = createChain();
    const clock = createFakeClock();
    const busy: typeof fetch = async (_, init) => {
      const body = JSON.parse(String(init?.body)) as
        | (RpcCall & { id: number })
        | (RpcCall & { id: number })[];
      const calls = Array.isArray(body) ? body : [body];
      inFlight += 1;
      most = Math.max(most, inFlight);
      await clock.sleep(10);
      inFlight -= 1;
      if (refuse && !isCheck(calls)) {
        refuse = false;
        most = 0;
        return new Response("", { status: 429 });
      }
      const replies = answerHonestly(chain, calls).map((result, i) => ({ id: calls[i]?.id, result }));
      return new Response(JSON.stringify(Array.isArray(body) ? replies : replies[0]));
    };
    const limited = createEvmSource({
      chainId: 8453,
      urls: ["https://a.test"],
      options: { clock, fetch: busy, socketClass: undefined, batchSize: 1, maxParallel: 8 },
    });
    await clock.run(limited.headers([1]));
    await clock.run(limited.headers(Array.from({ length: 16 }, (_, i) => i)));
    expect(most).to.equal(4);
  });

  it("hedges with a second endpoint when the first takes longer than it nearly always does", async () => {
    let delayMs = 10;
    const { source, clock, events } = setUpSource((chain) => ({
      "a.test": (calls) => ({ results: answerHonestly(chain, calls), delayMs }),
      "b.test": (calls) => ({ results: answerHonestly(chain, calls), delayMs: 10 }),
    }));
    for (let i = 0; i < 40; i++) await clock.run(source.headers([i]));
    expect(events.filter((event) => event.kind === "hedge")).to.have.length(0);
    delayMs = 20_000;
    const start = clock.now();
    await clock.run(source.headers([1]));
    expect(clock.now() - start).to.be.lessThan(200);
    expect(events.filter((event) => event.kind === "hedge")).to.have.length(1);
  });

  it("survives an unknown error text", async () => {
    let failures = 4;
    const { source, clock } = setUpSource((chain) => ({
      "a.test": whenAsked(chain, (calls) =>
        failures-- > 0
          ? { results: calls.map(() => new RpcFailure(-31337, "the hamster is asleep")) }
          : honest(chain)(calls),
      ),
    }));
    expect(await clock.run(source.headers([1]))).to.have.length(1);
  });

  it("stops when it is closed", async () => {
    const { source, clock } = setUpSource((chain) => ({ "a.test": whenAsked(chain, () => "hang") }));
    const requested = failure(source.head());
    await clock.run(Promise.resolve());
    await source.close();
    expect(await clock.run(requested)).to.be.instanceOf(UpstreamError);
  });
});
