import { expect } from "chai";
import { describe, it } from "mocha";
import { ReorgDetected } from "../../chain-errors.ts";
import type { RpcCall } from "../../rpc-client/endpoint/transport.ts";
import {
  createFakeClock,
  createFakeNetwork,
  type FakeResponse,
  RpcFailure,
} from "../../rpc-client/testkit/fake-network.ts";
import { computeLogsBloom } from "../bloom.ts";
import { type BlockHeader, UpstreamError } from "../port.ts";
import {
  answerHonestly,
  type FakeChain,
  FULL_BLOOM,
  fakeHeader,
  fakeLog,
  TOPIC,
  toRpcLog,
} from "../testkit/fake-chain.ts";
import { createEvmSource } from "./source.ts";

const FILTER = { topics: [TOPIC] };
const CHAIN: FakeChain = {
  head: 100,
  chainId: 1,
  fork: 0,
  logs: [fakeLog(1), fakeLog(2), fakeLog(2, 1), fakeLog(4)],
};
const HEADERS: BlockHeader[] = [1, 2, 3, 4].map((number) =>
  fakeHeader(number, { logsBloom: computeLogsBloom(CHAIN.logs.filter((log) => log.blockNumber === number)) }),
);

type Handler = (calls: readonly RpcCall[]) => FakeResponse;

/** A node with receipts that may omit logs of some blocks in both responses. */
function node({ receipts = true, hides = [] as number[] } = {}): Handler {
  const seen: FakeChain = { ...CHAIN, logs: CHAIN.logs.filter((log) => !hides.includes(log.blockNumber)) };
  return (calls) => ({
    results: calls.map((call) => {
      if (call.method !== "eth_getBlockReceipts" || !receipts) return answerHonestly(seen, [call])[0];
      const number = Number(call.params[0]);
      const { hash } = fakeHeader(number);
      return [{ blockHash: hash, logs: seen.logs.filter((log) => log.blockNumber === number).map(toRpcLog) }];
    }),
  });
}

function setUp(hosts: Record<string, Handler>) {
  const clock = createFakeClock();
  const network = createFakeNetwork(clock, hosts);
  const source = createEvmSource({
    chainId: 1,
    urls: Object.keys(hosts).map((host) => `https://${host}`),
    options: { clock, fetch: network.fetch, socketClass: undefined, totalMs: 30_000 },
  });
  const verify = (logs = CHAIN.logs.slice(0, 1), headers = HEADERS) =>
    clock.run(source.verifyEmpty(headers, { logs, filter: FILTER }));
  const methods = (host: string) =>
    network.requestsTo(host).flatMap((request) => request.calls.map((call) => call.method));
  return { verify, methods, network };
}

describe("EvmSource.verifyEmpty", () => {
  it("requests nothing where the blooms agree with the response", async () => {
    const { verify, network } = setUp({ "a.test": node() });
    expect(await verify(CHAIN.logs)).to.deep.equal(CHAIN.logs);
    expect(network.requests).to.have.length(0);
  });

  it("adds missing logs from the receipts, in order", async () => {
    const { verify, methods } = setUp({ "a.test": node() });
    expect(await verify(CHAIN.logs.slice(3))).to.deep.equal(CHAIN.logs);
    expect(methods("a.test")).to.deep.equal(["eth_getBlockReceipts", "eth_getBlockReceipts"]);
  });

  it("accepts a false alarm of the bloom when the receipts prove it", async () => {
    // The bloom of the whole chain holds the topic, but these receipts hold a log of another topic with the same bloom.
    const other = { ...fakeLog(3), topics: [TOPIC, TOPIC] as const };
    const logsBloom = computeLogsBloom([other]);
    const strange: Handler = (calls) => ({
      results: calls.map((call) =>
        call.method === "eth_getBlockReceipts"
          ? [
              {
                blockHash: fakeHeader(3).hash,
                logs: [toRpcLog({ ...other, topics: [`0x${"01".repeat(32)}`, TOPIC] })],
              },
            ]
          : answerHonestly(CHAIN, [call])[0],
      ),
    });
    const bloomOfBoth = computeLogsBloom([{ ...other, topics: [`0x${"01".repeat(32)}`, TOPIC] }]);
    const { verify } = setUp({ "a.test": strange });
    expect(logsBloom).not.to.equal(bloomOfBoth);
    expect(await verify([], [fakeHeader(3, { logsBloom: bloomOfBoth })])).to.deep.equal([]);
  });

  it("rejects receipts that do not match the header's bloom", async () => {
    const { verify } = setUp({ "a.test": node({ hides: [2] }), "b.test": node() });
    expect(await verify()).to.deep.equal(CHAIN.logs);
    const alone = setUp({ "a.test": node({ hides: [2] }) });
    let error: unknown;
    await alone.verify().catch((thrown: unknown) => {
      error = thrown;
    });
    expect(error).to.be.instanceOf(UpstreamError);
  });

  it("without receipts takes the logs of the endpoint that has them", async () => {
    const { verify } = setUp({
      "a.test": node({ receipts: false, hides: [2, 4] }),
      "b.test": node({ receipts: false }),
    });
    expect(await verify()).to.deep.equal(CHAIN.logs);
  });

  it("without receipts accepts what two endpoints return", async () => {
    const { verify, methods } = setUp({
      "a.test": node({ receipts: false }),
      "b.test": node({ receipts: false }),
    });
    expect(await verify([], [fakeHeader(3, { logsBloom: FULL_BLOOM })])).to.deep.equal([]);
    expect(methods("a.test").filter((method) => method === "eth_getLogs")).to.have.length(1);
    expect(methods("b.test").filter((method) => method === "eth_getLogs")).to.have.length(1);
  });

  it("without receipts and a second endpoint requests three times, by the block's hash", async () => {
    const { verify, network } = setUp({ "a.test": node({ receipts: false }) });
    expect(await verify([], [fakeHeader(3, { logsBloom: FULL_BLOOM })])).to.deep.equal([]);
    const requested = network
      .requestsTo("a.test")
      .flatMap((request) => request.calls.filter((call) => call.method === "eth_getLogs"));
    expect(requested).to.have.length(3);
    expect(requested[0]?.params[0]).to.deep.include({ blockHash: fakeHeader(3).hash });
  });

  it("remembers that no endpoint has receipts", async () => {
    const { verify, methods } = setUp({ "a.test": node({ receipts: false }) });
    await verify([], [fakeHeader(3, { logsBloom: FULL_BLOOM })]);
    await verify([], [fakeHeader(3, { logsBloom: FULL_BLOOM })]);
    expect(methods("a.test").filter((method) => method === "eth_getBlockReceipts")).to.have.length(1);
  });

  /** A node without receipts that knows no block by its hash. */
  const forgetful: Handler = (calls) => ({
    results: calls.map((call) =>
      call.method === "eth_getLogs"
        ? new RpcFailure(-32001, "block not found")
        : answerHonestly(CHAIN, [call])[0],
    ),
  });

  it("throws ReorgDetected where a header is no longer on the chain: an empty response would be of its block", async () => {
    const gone = [fakeHeader(2, { fork: 9, logsBloom: FULL_BLOOM })];
    for (const hosts of [{ "a.test": node(), "b.test": node() }, { "a.test": forgetful }] as const) {
      let error: unknown;
      await setUp(hosts)
        .verify([], gone)
        .catch((thrown: unknown) => {
          error = thrown;
        });
      expect(error).to.be.instanceOf(ReorgDetected);
    }
  });

  it("does not take a pruned node for an empty block", async () => {
    let error: unknown;
    await setUp({ "a.test": forgetful })
      .verify([], [fakeHeader(2, { logsBloom: FULL_BLOOM })])
      .catch((thrown: unknown) => {
        error = thrown;
      });
    expect(error).to.be.instanceOf(UpstreamError);
  });
});
