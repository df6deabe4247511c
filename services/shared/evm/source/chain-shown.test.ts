import { expect } from "chai";
import { describe, it } from "mocha";
import { RpcFailure } from "../../rpc-client/testkit/fake-network.ts";
import type { FinalBlock } from "../port.ts";
import { answerHonestly, type FakeChain, fakeHash, fakeLog, TOPIC } from "../testkit/fake-chain.ts";
import { type Handler, honest, setUpSource } from "../testkit/source-setup.ts";

/** Block 36 of the fake chain is final in the index, which reads a block every two seconds from 37 on. */
const FINAL: FinalBlock = { number: 36, hash: fakeHash(36), time: 1_036, genesisHash: fakeHash(0) };
const FIRST = 37;
const BLOCK_MS = 2_000;
/** Every one has a log of the filter. */
const BLOCKS = 40;
const FILTER = { topics: [TOPIC] };

const withLogs = (chain: FakeChain): FakeChain => ({
  ...chain,
  logs: Array.from({ length: chain.head }, (_, i) => fakeLog(i + 1)),
});

/** Another chain: it knows none of the index's blocks. `gone` is its answer about their hashes. */
function other(chain: FakeChain, gone: unknown = new RpcFailure(-32000, "unknown block")): Handler {
  return (calls) => ({
    results: calls.map((call) => {
      const { blockHash } = (call.params[0] ?? {}) as { blockHash?: string };
      return blockHash === undefined ? answerHonestly({ ...chain, fork: 1 }, [call])[0] : gone;
    }),
  });
}

/** Reads the logs of one block after the other by its hash; `ask` chooses which node of its chain answers. */
async function follow(
  node: (chain: FakeChain) => Handler,
  { isLinked = true }: { isLinked?: boolean } = {},
): Promise<{ checks: number[]; asides: number[]; calls: number }> {
  const asides: number[] = [];
  const { source, clock, network, lines } = setUpSource((chain) => ({ "a.test": node(withLogs(chain)) }));
  source.requireFinal(FINAL);
  for (let number = FIRST; number < FIRST + BLOCKS; number++) {
    const range = { fromBlock: number, toBlock: number, blockHash: fakeHash(number), isLinked };
    await clock.run(source.logs(range, FILTER).catch(() => {}));
    if (lines.some((line) => line.includes("contradicts the index"))) asides.push(clock.now());
    await clock.run(clock.sleep(BLOCK_MS));
  }
  const asked = network.requestsTo("a.test");
  const checks = asked
    .filter(({ calls }) => calls.some(({ params }) => params[0] === "0x24"))
    .map(({ at }) => at);
  const calls = asked.reduce((sum, each) => sum + each.calls.length, 0);
  return { checks, asides, calls };
}

describe("what an endpoint shows of its chain", () => {
  it("is in each log of a block that follows on the index: the final block is asked for once a minute", async () => {
    const { checks, calls } = await follow(honest);
    expect(checks).to.deep.equal([0, 62_000]);
    // The first request also proves chain and genesis.
    expect(calls).to.equal(BLOCKS + 4);
  });

  it("is asked for every ten seconds where nobody has linked the blocks", async () => {
    const { checks } = await follow(honest, { isLinked: false });
    expect(checks).to.have.length(Math.ceil((BLOCKS * BLOCK_MS) / 12_000));
  });

  it("is asked for every ten seconds where blocks have no logs: some nodes say that of blocks which they do not know", async () => {
    const { checks } = await follow((chain) => honest({ ...chain, logs: [] }));
    expect(checks).to.have.length(Math.ceil((BLOCKS * BLOCK_MS) / 12_000));
  });

  for (const [what, gone] of [
    ["does not know the block", undefined],
    ["says that it has no logs", []],
  ] as const)
    it(`is another chain within ten seconds after a node has switched and ${what}`, async () => {
      let answered = 0;
      const { asides } = await follow((chain) => {
        const [right, wrong] = [honest(chain), other(chain, gone)];
        return (calls) => (answered++ < 20 ? right(calls) : wrong(calls));
      });
      // Some 19 blocks are read before the switch.
      expect(asides[0]).to.be.within(36_000, 19 * BLOCK_MS + 10_000 + 2 * BLOCK_MS);
    });

  it("is looked at as often as ever where one of the machines behind a URL has another chain", async () => {
    let answered = 0;
    const { asides, checks } = await follow((chain) => {
      const [right, wrong] = [honest(chain), other(chain)];
      return (calls) => (answered++ % 3 === 2 ? wrong(calls) : right(calls));
    });
    expect(checks.length).to.be.at.least(4);
    expect(asides[0]).to.be.at.most(40_000);
  });
});

describe("the final block of a tip that an endpoint replaces", () => {
  it("is a doubt: logs do not stand for the check until it has been made", async () => {
    const FORKED = { number: 90, hash: fakeHash(90, 1), time: 1_090 };
    const { source, clock, network } = setUpSource((chain) => ({ "a.test": honest(withLogs(chain)) }));
    source.requireFinal(FINAL);
    const read = (number: number) =>
      clock.run(
        source.logs(
          { fromBlock: number, toBlock: number, blockHash: fakeHash(number), isLinked: true },
          FILTER,
        ),
      );
    const checks = () =>
      network.requestsTo("a.test").filter(({ calls }) => calls[0]?.params[0] === "0x24").length;
    await read(FIRST);
    const before = checks();
    expect(await clock.run(source.finalBlock(FORKED))).to.equal(null);
    for (let i = 1; i < 12; i++) {
      await clock.run(clock.sleep(BLOCK_MS));
      await read(FIRST + i);
    }
    expect(checks() - before).to.equal(1);
  });
});
