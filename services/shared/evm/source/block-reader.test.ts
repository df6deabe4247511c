import { expect } from "chai";
import { describe, it } from "mocha";
import type { RpcCall } from "../../rpc-client/endpoint/transport.ts";
import { createFakeClock, createFakeNetwork, RpcFailure } from "../../rpc-client/testkit/fake-network.ts";
import { type BlockWithSenders, UpstreamError } from "../port.ts";
import { fakeHash, fakeHeader, toRpcHeader } from "../testkit/fake-chain.ts";
import { createEvmSource } from "./source.ts";

const SENDERS = [`0x${"01".repeat(20)}`, `0x${"02".repeat(20)}`];

interface NodeOptions {
  /** Milliseconds a block in either form takes; undefined receipts = the node has none. */
  readonly fullMs: number;
  readonly receiptsMs?: number;
  /** What the first request for blocks takes, in whatever form. */
  readonly firstMs?: number;
  readonly spoil?: (receipts: Record<string, unknown>[]) => unknown;
}

function answer(
  { spoil = (receipts) => receipts, receiptsMs }: NodeOptions,
  { method, params }: RpcCall,
): unknown {
  if (method === "eth_chainId") return "0x1";
  const header = fakeHeader(Number(params[0]));
  const entries = SENDERS.map((from, i) => ({
    ...{ from, transactionIndex: `0x${i}`, blockHash: header.hash, logs: [] },
  }));
  if (method === "eth_getBlockReceipts") {
    return receiptsMs === undefined ? new RpcFailure(-32601, "Method not found") : spoil(entries);
  }
  const transactions = params[1] === true ? entries : entries.map((_, i) => fakeHash(i));
  return { ...toRpcHeader(header), transactions };
}

function delayOf({ fullMs, receiptsMs = 1 }: NodeOptions, calls: readonly RpcCall[]): number {
  if (calls.some(({ method }) => method === "eth_getBlockReceipts")) return receiptsMs;
  return calls.some(({ method }) => method === "eth_getBlockByNumber") ? fullMs : 0;
}

function setUp(node: NodeOptions) {
  const clock = createFakeClock();
  let isFirst = true;
  const network = createFakeNetwork(clock, {
    "a.test": (calls) => {
      const delayMs = isFirst && node.firstMs !== undefined ? node.firstMs : delayOf(node, calls);
      if (calls.some(({ method }) => method === "eth_getBlockByNumber")) isFirst = false;
      return { results: calls.map((call) => answer(node, call)), delayMs };
    },
  });
  const options = { clock, fetch: network.fetch, socketClass: undefined, totalMs: 5_000 };
  const source = createEvmSource({ chainId: 1, urls: ["https://a.test"], options });
  const read = (numbers = [1, 2]) => clock.run(source.blocks(numbers));
  const ways = () =>
    network
      .requestsTo("a.test")
      .map(({ calls }) =>
        calls.some((call) => call.method === "eth_getBlockReceipts") ? "receipts" : "full",
      );
  const readWithLogs = (numbers: readonly number[]) =>
    clock.run(source.blocksWithLogs(numbers, { topics: [] }));
  return { read, readWithLogs, ways };
}

const expected: BlockWithSenders[] = [1, 2].map((n) => ({
  ...fakeHeader(n),
  senders: SENDERS as BlockWithSenders["senders"],
}));

describe("EvmSource.blocks", () => {
  it("uses receipts where they come sooner, with the same result", async () => {
    const { read, ways } = setUp({ fullMs: 100, receiptsMs: 10 });
    for (let i = 0; i < 6; i++) expect(await read()).to.deep.equal(expected);
    expect(ways()).to.deep.equal(["full", "receipts", "full", "receipts", "receipts", "receipts"]);
  });

  it("uses full blocks where those come sooner, and tries again from time to time", async () => {
    const { read, ways } = setUp({ fullMs: 10, receiptsMs: 100 });
    for (let i = 0; i < 300; i++) await read([1]);
    expect(ways().filter((way) => way === "receipts")).to.have.length(3);
  });

  it("is not misled by a first request that pays for the connection", async () => {
    const { read, ways } = setUp({ fullMs: 20, receiptsMs: 20, firstMs: 200 });
    for (let i = 0; i < 5; i++) await read([1]);
    expect(ways()).to.deep.equal(["full", "receipts", "full", "full", "full"]);
  });

  it("uses full blocks where receipts come hardly sooner", async () => {
    const { read, ways } = setUp({ fullMs: 100, receiptsMs: 60 });
    for (let i = 0; i < 4; i++) await read([1]);
    expect(ways()).to.deep.equal(["full", "receipts", "full", "full"]);
  });

  it("works without receipts where the node has none, and requests them once", async () => {
    const { read, ways } = setUp({ fullMs: 10 });
    for (let i = 0; i < 200; i++) expect(await read()).to.deep.equal(expected);
    expect(ways().filter((way) => way === "receipts")).to.have.length(1);
  });

  it("tries each method with one request only, for any number of blocks", async () => {
    const { read, ways } = setUp({ fullMs: 100, receiptsMs: 10 });
    const numbers = Array.from({ length: 100 }, (_, i) => i + 1);
    expect((await read(numbers)).map((block) => block.number)).to.deep.equal(numbers);
    // Eight blocks a trial, the other 76 in requests of 20.
    expect(ways()).to.deep.equal(["full", "receipts", "full", ...Array<string>(4).fill("receipts")]);
  });

  it("runs its trial on a few blocks when the first call is for blocks with logs", async () => {
    const numbers = Array.from({ length: 40 }, (_, i) => i + 1);
    const quick = setUp({ fullMs: 100, receiptsMs: 10 });
    const blocks = await quick.readWithLogs(numbers);
    expect(blocks?.map((block) => block.number)).to.deep.equal(numbers);
    // Two requests for the forty, after the trials.
    expect(quick.ways()).to.deep.equal(["full", "receipts", "full", "receipts", "receipts"]);
    const slow = setUp({ fullMs: 10, receiptsMs: 100 });
    expect(await slow.readWithLogs(numbers)).to.equal(undefined);
    expect(await slow.readWithLogs(numbers)).to.equal(undefined);
    expect(slow.ways()).to.deep.equal(["full", "receipts", "full"]);
  });

  for (const [name, spoil] of [
    ["pruned", () => null],
    [
      "of another block",
      (all: Record<string, unknown>[]) => all.map((each) => ({ ...each, blockHash: fakeHash(77) })),
    ],
    ["out of order", (all: Record<string, unknown>[]) => all.toReversed()],
    ["too few", (all: Record<string, unknown>[]) => all.slice(1)],
  ] as const) {
    it(`takes the full block where the receipts are ${name}`, async () => {
      const { read, ways } = setUp({ fullMs: 100, receiptsMs: 10, spoil });
      for (let i = 0; i < 4; i++) expect(await read()).to.deep.equal(expected);
      expect(ways()).to.deep.equal(["full", "receipts", "full", "full", "full"]);
    });
  }

  it("fails where the full block is malformed too", async () => {
    const clock = createFakeClock();
    const network = createFakeNetwork(clock, {
      "a.test": (calls) => ({
        results: calls.map(({ method }) =>
          method === "eth_chainId"
            ? "0x1"
            : { ...toRpcHeader(fakeHeader(1)), transactions: [{ from: null }] },
        ),
      }),
    });
    const options = { clock, fetch: network.fetch, socketClass: undefined, totalMs: 5_000 };
    const source = createEvmSource({ chainId: 1, urls: ["https://a.test"], options });
    const error = await clock.run(
      source.blocks([1]).then(
        () => undefined,
        (thrown: unknown) => thrown,
      ),
    );
    expect(error).to.be.instanceOf(UpstreamError);
  });
});
