import { expect } from "chai";
import { describe, it } from "mocha";
import type { RpcCall } from "../../rpc-client/endpoint/transport.ts";
import { RpcFailure } from "../../rpc-client/testkit/fake-network.ts";
import {
  BlockUnavailable,
  CallTooHeavy,
  type EthCall,
  RangeTooLarge,
  UpstreamError,
  withState,
} from "../port.ts";
import { answerHonestly, type FakeChain, fakeHash, fakeHeader, TOPIC } from "../testkit/fake-chain.ts";
import { failure, type Handler, honest, isCheck, setUpSource, whenAsked } from "../testkit/source-setup.ts";

const FILTER = { topics: [TOPIC] };
const RANGE = { fromBlock: 1, toBlock: 50 };

describe("EvmSource.logs", () => {
  const spoil = (change: (logs: Record<string, unknown>[]) => unknown) => (chain: FakeChain) =>
    whenAsked(chain, (calls) => ({
      results: answerHonestly(chain, calls).map((result) =>
        Array.isArray(result) ? change(result) : result,
      ),
    }));

  const faults: Record<string, (chain: FakeChain) => Handler> = {
    "a log twice": spoil((logs) => [...logs, logs[3]]),
    "a log outside the range": spoil((logs) => [...logs, { ...logs[3], blockNumber: "0x99" }]),
    "a removed log": spoil((logs) => [{ ...logs[0], removed: true }, ...logs.slice(1)]),
    "a pending log": spoil((logs) => [{ ...logs[0], blockNumber: null }, ...logs.slice(1)]),
    "a topic not requested": spoil((logs) => [
      { ...logs[0], topics: [`0x${"dd".repeat(32)}`] },
      ...logs.slice(1),
    ]),
    "two hashes for one block": spoil((logs) => [
      logs[0],
      { ...logs[0], logIndex: "0x1", blockHash: `0x${"dd".repeat(32)}` },
    ]),
    "no list": spoil(() => ({})),
  };
  for (const [name, make] of Object.entries(faults)) {
    it(`uses another endpoint when a response has ${name}`, async () => {
      const { source, clock, chain, events } = setUpSource((each) => ({
        "a.test": make(each),
        "b.test": honest(each),
      }));
      expect(await clock.run(source.logs(RANGE, FILTER))).to.deep.equal(chain.logs);
      expect(events.filter((event) => event.kind === "fault" && event.fault === "untrusted")).to.have.length(
        1,
      );
    });
  }

  it("puts logs in order and letters in lower case", async () => {
    const { source, clock, chain } = setUpSource((each) => ({
      "a.test": spoil((logs) => logs.map((log) => ({ ...log, address: `0x${"AA".repeat(20)}` })).reverse())(
        each,
      ),
    }));
    expect(await clock.run(source.logs(RANGE, FILTER))).to.deep.equal(chain.logs);
  });

  it("rejects a node whose head is below the range", async () => {
    const { source, clock, chain, network } = setUpSource((each) => ({
      "a.test": honest({ ...each, head: 30 }),
      "b.test": honest(each),
    }));
    expect(await clock.run(source.logs(RANGE, FILTER))).to.deep.equal(chain.logs);
    expect(network.requestsTo("a.test")[0]?.calls.map((call) => call.method)).to.deep.equal([
      "eth_blockNumber",
      "eth_getLogs",
    ]);
  });

  it("waits for a lone node that is behind", async () => {
    const lagging = { head: 30 };
    const { source, clock, chain } = setUpSource((each) => ({
      "a.test": (calls) => honest({ ...each, head: lagging.head })(calls),
    }));
    const requested = source.logs(RANGE, FILTER);
    await clock.run(clock.sleep(3_000));
    lagging.head = 60;
    expect(await clock.run(requested)).to.deep.equal(chain.logs);
  });

  it("throws RangeTooLarge with the largest range named once every endpoint refuses", async () => {
    const refuse = (chain: FakeChain, message: string) =>
      whenAsked(chain, (calls) => ({ results: calls.map(() => new RpcFailure(-32602, message)) }));
    const { source, clock, network } = setUpSource((chain) => ({
      "a.test": refuse(chain, "this block range should work: [0x1, 0xa]"),
      "b.test": refuse(chain, "this block range should work: [0x1, 0x14]"),
    }));
    const error = await failure(clock.run(source.logs(RANGE, FILTER)));
    expect(error).to.be.instanceOf(RangeTooLarge);
    expect((error as RangeTooLarge).suggested).to.deep.equal({ fromBlock: 1, toBlock: 20 });
    expect((error as RangeTooLarge).maxBlocks).to.equal(undefined);
    expect(network.requests.filter((request) => !isCheck(request.calls))).to.have.length(2);
  });

  it("reports which ranges succeeded, and which all endpoints refused", async () => {
    let refuses = true;
    const { source, clock, events } = setUpSource((chain) => ({
      "a.test": whenAsked(chain, (calls) =>
        refuses
          ? { results: calls.map(() => new RpcFailure(-32602, "query exceeds max block range 20")) }
          : { results: answerHonestly(chain, calls) },
      ),
    }));
    await failure(clock.run(source.logs(RANGE, FILTER)));
    refuses = false;
    await clock.run(source.logs({ fromBlock: 1, toBlock: 20 }, FILTER));
    expect(events.filter(({ kind }) => kind === "range")).to.deep.equal([
      { kind: "range", blocks: 50, ok: false },
      { kind: "range", blocks: 20, ok: true },
    ]);
  });

  it("uses the endpoint that does not refuse", async () => {
    const { source, clock, chain } = setUpSource((each) => ({
      "a.test": whenAsked(each, (calls) => ({
        results: calls.map(() => new RpcFailure(-32600, "block range is too wide")),
      })),
      "b.test": honest(each),
    }));
    expect(await clock.run(source.logs(RANGE, FILTER))).to.deep.equal(chain.logs);
  });

  it("names an explicit limit of blocks, and drops a suggestion that is the range refused", async () => {
    const refuse = (message: string) => (chain: FakeChain) => ({
      "a.test": whenAsked(chain, (calls) => ({ results: calls.map(() => new RpcFailure(-32602, message)) })),
    });
    const limited = setUpSource(refuse("query exceeds max block range 20"));
    const named = (await failure(limited.clock.run(limited.source.logs(RANGE, FILTER)))) as RangeTooLarge;
    expect(named.maxBlocks).to.equal(20);
    expect(named.suggested).to.deep.equal({ fromBlock: 1, toBlock: 20 });
    const echoed = setUpSource(refuse("query exceeds max results 20000, retry with the range 1-50"));
    const useless = (await failure(echoed.clock.run(echoed.source.logs(RANGE, FILTER)))) as RangeTooLarge;
    expect(useless.suggested).to.equal(undefined);
  });

  it("takes a range that misses its deadline twice for too large", async () => {
    const { source, clock } = setUpSource((chain) => ({ "a.test": whenAsked(chain, () => "hang") }), {
      timeoutMs: 5_000,
    });
    expect(await failure(clock.run(source.logs(RANGE, FILTER)))).to.be.instanceOf(RangeTooLarge);
    expect(clock.now()).to.be.lessThan(15_000);
  });
});

describe("EvmSource.call", () => {
  const call = { to: `0x${"11".repeat(20)}`, data: "0x", block: 9 } as const;
  const say = (code: number, message: string) => (chain: FakeChain) =>
    whenAsked(chain, (calls) => ({ results: calls.map(() => new RpcFailure(code, message)) }));
  const pruned = say(-32000, "missing trie node abc (path )");

  it("returns null for a revert and uses no other endpoint", async () => {
    const { source, clock, network } = setUpSource((chain) => ({
      "a.test": say(3, "execution reverted")(chain),
      "b.test": honest(chain),
    }));
    expect(await clock.run(source.call([call]))).to.deep.equal([null]);
    expect(network.requestsTo("b.test")).to.have.length(0);
  });

  it("uses another endpoint for a state that one has pruned", async () => {
    const { source, clock } = setUpSource((chain) => ({ "a.test": pruned(chain), "b.test": honest(chain) }));
    expect(await clock.run(source.call([call]))).to.deep.equal([`0x${"00".repeat(31)}2a`]);
  });

  it("returns null where every endpoint has pruned the state", async () => {
    const { source, clock } = setUpSource((chain) => ({ "a.test": pruned(chain), "b.test": pruned(chain) }));
    expect(await clock.run(source.call([call]))).to.deep.equal([null]);
  });

  it("throws there for state that every node has, and takes a revert for one all the same", async () => {
    const [needing] = withState([call]);
    const missing = setUpSource((chain) => ({ "a.test": pruned(chain), "b.test": pruned(chain) }));
    const error = await failure(missing.clock.run(missing.source.call([needing as EthCall])));
    expect(error).to.be.instanceOf(UpstreamError);
    expect((error as Error).message).to.contain("missing trie node");
    const reverted = setUpSource((chain) => ({
      "a.test": pruned(chain),
      "b.test": say(3, "execution reverted")(chain),
    }));
    expect(await reverted.clock.run(reverted.source.call([needing as EthCall]))).to.deep.equal([null]);
  });

  it("does not take a node that has not seen the block for a revert", async () => {
    const { source, clock } = setUpSource((chain) => ({ "a.test": say(-32000, "header not found")(chain) }));
    expect(await failure(clock.run(source.call([call])))).to.be.instanceOf(UpstreamError);
  });
});

describe("EvmSource.call at a block's hash", () => {
  const HASH = fakeHeader(9).hash;
  const RETURNED = `0x${"00".repeat(31)}2a`;
  const call = { to: `0x${"11".repeat(20)}`, data: "0x", block: 9, blockHash: HASH } as const;
  const say = (code: number, message: string) => (chain: FakeChain) =>
    whenAsked(chain, (calls) => ({ results: calls.map(() => new RpcFailure(code, message)) }));
  const unknown = say(-32000, "header for hash not found");
  const methods = (requests: readonly { calls: readonly RpcCall[] }[]) =>
    requests.map(({ calls }) =>
      calls.map(({ method, params }) => `${method} ${JSON.stringify(params.at(-1))}`),
    );
  /** A node that knows blocks by number alone. */
  const unpinnable =
    (words: string) =>
    (chain: FakeChain): Handler =>
      whenAsked(chain, (calls) => ({
        results: calls.map((each, i) =>
          typeof each.params[1] === "object"
            ? new RpcFailure(-32602, words)
            : answerHonestly(chain, calls)[i],
        ),
      }));

  it("names the block by its hash, and takes a revert for one", async () => {
    const { source, clock, network } = setUpSource((chain) => ({ "a.test": honest(chain) }));
    expect(await clock.run(source.call([call]))).to.deep.equal([RETURNED]);
    expect(methods(network.requestsTo("a.test"))).to.deep.equal([[`eth_call {"blockHash":"${HASH}"}`]]);
    const reverting = setUpSource((chain) => ({ "a.test": say(3, "execution reverted")(chain) }));
    expect(await reverting.clock.run(reverting.source.call([call]))).to.deep.equal([null]);
  });

  for (const [what, node] of [
    ["pruned the state", say(-32000, "missing trie node abc (path )")],
    ["do not know the block", unknown],
    ["have no such resource", say(-32001, "Resource not found")],
  ] as const) {
    it(`throws BlockUnavailable, at once, where all endpoints ${what}`, async () => {
      const { source, clock, network } = setUpSource((chain) => ({
        "a.test": node(chain),
        "b.test": node(chain),
      }));
      expect(await failure(clock.run(source.call([call])))).to.be.instanceOf(BlockUnavailable);
      expect(network.requestsTo("a.test").length + network.requestsTo("b.test").length).to.equal(2);
    });

    it(`uses another endpoint where one is said to ${what}`, async () => {
      const { source, clock } = setUpSource((chain) => ({ "a.test": node(chain), "b.test": honest(chain) }));
      expect(await clock.run(source.call([call]))).to.deep.equal([RETURNED]);
    });
  }

  for (const words of [
    "invalid argument 1: json: cannot unmarshal object into Go value of type string",
    "Invalid params: invalid type: map, expected a string",
  ]) {
    it(`calls by number, between two reads of the header, where a node reports "${words}"`, async () => {
      const { source, clock, network } = setUpSource((chain) => ({ "a.test": unpinnable(words)(chain) }));
      expect(await clock.run(source.call([call, call]))).to.deep.equal([RETURNED, RETURNED]);
      expect(await clock.run(source.call([call]))).to.deep.equal([RETURNED]);
      const checked = ["eth_getBlockByNumber false", 'eth_call "0x9"', "eth_getBlockByNumber false"];
      const requested = methods(network.requestsTo("a.test"));
      expect(requested.slice(1), "the hash is not tried again").to.deep.equal([
        [...checked, ...checked],
        checked,
      ]);
    });
  }

  it("prefers an endpoint that takes the hash", async () => {
    const { source, clock, network } = setUpSource((chain) => ({
      "a.test": unpinnable("hex string expected")(chain),
      "b.test": honest(chain),
    }));
    expect(await clock.run(source.call([call]))).to.deep.equal([RETURNED]);
    expect(await clock.run(source.call([call]))).to.deep.equal([RETURNED]);
    expect([network.requestsTo("a.test").length, network.requestsTo("b.test").length]).to.deep.equal([1, 2]);
  });

  it("rejects a call by number if the header differs before or after it", async () => {
    for (const moved of [0, 2]) {
      const { source, clock } = setUpSource((chain) => ({
        "a.test": whenAsked(chain, (calls) => ({
          results: calls.map((each, i) =>
            typeof each.params[1] === "object"
              ? new RpcFailure(-32602, "hex string expected")
              : answerHonestly(i === moved ? { ...chain, fork: 1 } : chain, calls)[i],
          ),
        })),
      }));
      expect(await failure(clock.run(source.call([call])))).to.be.instanceOf(BlockUnavailable);
    }
  });

  it("throws CallTooHeavy for a call that no endpoint executes in time", async () => {
    const { source, clock } = setUpSource((chain) => ({ "a.test": whenAsked(chain, () => "hang") }), {
      timeoutMs: 5_000,
    });
    expect(await failure(clock.run(source.call([call])))).to.be.instanceOf(CallTooHeavy);
    expect(clock.now()).to.be.lessThan(15_000);
  });
});

describe("EvmSource.head", () => {
  it("does not go back when a node that is behind responds", async () => {
    const lag = { a: 0 };
    const { source, clock, chain } = setUpSource((each) => ({
      "a.test": (calls) => honest({ ...each, head: each.head - lag.a })(calls),
    }));
    expect((await clock.run(source.head())).number).to.equal(100);
    lag.a = 10;
    await clock.run(source.headers([90]));
    expect((await clock.run(source.head())).number).to.equal(100);
    lag.a = 0;
    chain.head = 101;
    expect((await clock.run(source.head())).number).to.equal(101);
  });

  it("uses the others when the primary falls behind", async () => {
    const lag = { a: 0 };
    const { source, clock } = setUpSource((each) => ({
      "a.test": (calls) => honest({ ...each, head: each.head - lag.a })(calls),
      "b.test": (calls) => honest({ ...each, head: each.head + 1 })(calls),
    }));
    await clock.run(source.head());
    lag.a = 10;
    expect((await clock.run(source.head())).number).to.equal(101);
  });

  it("accepts a lower head of another fork at once", async () => {
    const { source, clock, chain } = setUpSource((each) => ({ "a.test": (calls) => honest(each)(calls) }));
    await clock.run(source.headers([95]));
    await clock.run(source.head());
    chain.head = 95;
    chain.fork = 1;
    expect((await clock.run(source.head())).number).to.equal(95);
  });

  it("accepts a lower head of the same fork after a minute", async () => {
    const { source, clock, chain } = setUpSource((each) => ({ "a.test": (calls) => honest(each)(calls) }));
    await clock.run(source.head());
    chain.head = 80;
    expect((await clock.run(source.head())).number).to.equal(100);
    await clock.run(clock.sleep(61_000));
    expect((await clock.run(source.head())).number).to.equal(80);
  });

  it("accepts a revert that needs confirmation when no other endpoint returns data", async () => {
    const reverting =
      (chain: FakeChain): Handler =>
      (calls) => ({
        results: calls.map((call) =>
          call.method === "eth_call"
            ? new RpcFailure(3, "execution reverted")
            : answerHonestly(chain, [call])[0],
        ),
      });
    const call = { to: `0x${"11".repeat(20)}`, data: "0x", block: 9, confirmRevert: true } as const;
    const word = `0x${"00".repeat(31)}2a`;
    const one = setUpSource((chain) => ({ "a.test": reverting(chain), "b.test": honest(chain) }));
    expect(await one.clock.run(one.source.call([call]))).to.deep.equal([word]);
    const pinned = { ...call, blockHash: fakeHash(9) };
    expect(await one.clock.run(one.source.call([pinned]))).to.deep.equal([word]);
    const both = setUpSource((chain) => ({ "a.test": reverting(chain), "b.test": reverting(chain) }));
    expect(await both.clock.run(both.source.call([call]))).to.deep.equal([null]);
    const alone = setUpSource((chain) => ({ "a.test": reverting(chain) }));
    expect(await alone.clock.run(alone.source.call([call, pinned]))).to.deep.equal([null, null]);
  });
});
