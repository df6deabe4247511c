import { expect } from "chai";
import { describe, it } from "mocha";
import { RpcFailure } from "../../rpc-client/testkit/fake-network.ts";
import { type FinalBlock, IndexContradicted } from "../port.ts";
import { answerHonestly, type FakeChain, fakeHash, TOPIC } from "../testkit/fake-chain.ts";
import { failure, type Handler, honest, isCheck, setUpSource } from "../testkit/source-setup.ts";

/** Block 36 of the fake chain is final in the index. */
const FINAL: FinalBlock = { number: 36, hash: fakeHash(36), time: 1_036, genesisHash: fakeHash(0) };
const CALL = { to: `0x${"11".repeat(20)}`, data: "0x", block: 90 } as const;

/** A node of a fork from `from` on; from 0 on it is another chain. Up to `head`. */
function forked(chain: FakeChain, { from, head = chain.head }: { from: number; head?: number }): Handler {
  return (calls) => ({
    results: calls.map((call) => {
      const number = call.params[0] === "latest" ? head : Number(call.params[0]);
      const fork = call.method === "eth_getBlockByNumber" && number < from ? 0 : 1;
      return answerHonestly({ ...chain, head, fork }, [call])[0];
    }),
  });
}

describe("an endpoint that contradicts what is final", () => {
  it("is set aside and named once, while the other one serves", async () => {
    const { source, clock, lines, network } = setUpSource((chain) => ({
      "a.test": forked(chain, { from: 30 }),
      "b.test": honest(chain),
    }));
    source.requireFinal(FINAL);
    for (let i = 0; i < 3; i++) {
      const [header] = await clock.run(source.headers([90]));
      expect(header?.hash).to.equal(fakeHash(90));
      await clock.run(clock.sleep(6_000));
    }
    const aside = lines.filter((line) => line.includes("set aside"));
    expect(aside).to.have.length(1);
    expect(aside[0]).to.contain("a.test").and.contain("block 36").and.not.contain("key-0123456789");
    const used = network.requestsTo("a.test").filter(({ calls }) => !isCheck(calls));
    expect(used, "no request but the proof").to.deep.equal([]);
  });

  it("is detected by its genesis where the chains have nothing in common", async () => {
    const { source, clock } = setUpSource((chain) => ({ "a.test": forked(chain, { from: 0 }) }));
    source.requireFinal(FINAL);
    const error = await failure(clock.run(source.head()));
    expect(error).to.be.instanceOf(IndexContradicted);
    expect(error.message).to.contain("a.test (another chain: its genesis is");
  });

  it("is found while running, and serves again when it agrees", async () => {
    let isForked = false;
    const { source, clock, lines } = setUpSource((chain) => ({
      "a.test": (calls) => (isForked ? forked(chain, { from: 30, head: 200 }) : honest(chain))(calls),
    }));
    source.requireFinal(FINAL);
    expect((await clock.run(source.head())).number).to.equal(100);
    isForked = true;
    await clock.run(clock.sleep(6_000));
    await clock.run(source.head().catch(() => {}));
    expect(await failure(clock.run(source.recheck()))).to.be.instanceOf(IndexContradicted);
    expect(await failure(clock.run(source.head()))).to.be.instanceOf(IndexContradicted);
    isForked = false;
    await clock.run(source.recheck());
    // The head of the other chain was higher: it is forgotten.
    expect((await clock.run(source.head())).number).to.equal(100);
    expect(lines.some((line) => line.includes("agrees with the index again"))).to.equal(true);
  });

  it("is not used for logs and states, which show no fork, even before the next check", async () => {
    let isForked = false;
    const { source, clock } = setUpSource((chain) => ({
      "a.test": (calls) => (isForked ? forked(chain, { from: 30 }) : honest(chain))(calls),
    }));
    source.requireFinal(FINAL);
    await clock.run(source.call([CALL]));
    isForked = true;
    expect(await failure(clock.run(source.call([CALL])))).to.be.instanceOf(IndexContradicted);
    isForked = false;
    await clock.run(source.recheck());
    await clock.run(source.call([CALL]));
    isForked = true;
    const range = { fromBlock: 1, toBlock: 90 };
    expect(await failure(clock.run(source.logs(range, { topics: [TOPIC] })))).to.be.instanceOf(
      IndexContradicted,
    );
  });

  it("is one that ends below the final block and has another block where the index has one", async () => {
    const known = { number: 20, hash: fakeHash(20), time: 1_020 };
    for (const [from, isContrary] of [
      [15, true],
      [25, false],
    ] as const) {
      const { source, clock } = setUpSource((chain) => ({ "a.test": forked(chain, { from, head: 30 }) }));
      const requested: number[] = [];
      source.requireFinal(FINAL, async (upTo) => {
        requested.push(upTo);
        return known;
      });
      const outcome = await clock.run(source.head().catch((error: unknown) => error));
      expect(outcome instanceof IndexContradicted, `a fork from ${from} on`).to.equal(isContrary);
      expect(requested).to.deep.equal([30]);
    }
  });

  it("is found by endpoints that take no batches as well", async () => {
    const single =
      (handler: Handler): Handler =>
      (calls) =>
        calls.length > 1
          ? {
              results: calls.map(
                () => new RpcFailure(-32600, "Batch of more than 1 requests are not allowed"),
              ),
            }
          : handler(calls);
    const { source, clock } = setUpSource((chain) => ({
      "a.test": single(forked(chain, { from: 30 })),
      "b.test": single(honest(chain)),
    }));
    source.requireFinal(FINAL);
    expect((await clock.run(source.headers([90, 91])))[0]?.hash).to.equal(fakeHash(90));
    expect(await clock.run(source.call([CALL]))).to.have.length(1);
  });
});

describe("EvmSource.finalBlock", () => {
  const TIP = { number: 90, hash: fakeHash(90), time: 1_090 };

  it("is the lowest that endpoints name, and nothing while one has another block at the tip", async () => {
    const one = setUpSource((chain) => ({
      "a.test": honest(chain),
      "b.test": honest({ ...chain, head: 95 }),
    }));
    await one.clock.run(one.source.head());
    expect((await one.clock.run(one.source.finalBlock(TIP)))?.number).to.equal(31);
    const two = setUpSource((chain) => ({ "a.test": honest(chain), "b.test": forked(chain, { from: 80 }) }));
    expect(await two.clock.run(two.source.finalBlock(TIP))).to.equal(null);
  });

  it("is the tip itself far behind the head, and follows from depth where nodes do not know the tag", async () => {
    const far = { number: 20, hash: fakeHash(20), time: 1_020 };
    const { source, clock } = setUpSource((chain) => ({ "a.test": honest(chain) }));
    expect(await clock.run(source.finalBlock(far))).to.deep.equal(far);
    const untagged = setUpSource((chain) => ({
      "a.test": (calls) => ({
        results: calls.map((call) =>
          call.params[0] === "finalized"
            ? new RpcFailure(-32602, "invalid block tag")
            : answerHonestly({ ...chain, head: 500 }, [call])[0],
        ),
      }),
    }));
    const tip = { number: 400, hash: fakeHash(400), time: 1_400 };
    expect((await untagged.clock.run(untagged.source.finalBlock(tip)))?.number).to.equal(400 - 256);
  });
});
