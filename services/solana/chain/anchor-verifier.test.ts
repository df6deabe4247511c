import { expect } from "chai";
import { describe, it } from "mocha";
import type { ChainAnchor, SolanaBlock } from "./port.ts";
import {
  answerHonestly,
  catchError,
  type FakeChain,
  fakeBlocks,
  fakeChain,
  fakeKey,
  type Handler,
  honest,
  setUpSource,
  withholding,
} from "./testkit/fake-chain.ts";

const SLOTS = Array.from({ length: 40 }, (_, i) => 100 + i);
const BLOCKS = fakeBlocks(SLOTS);
const CHAIN = fakeChain(BLOCKS);
const FINAL = 120;
const at = (slot: number) => BLOCKS.find((block) => block.slot === slot) as SolanaBlock;
const ANCHOR: ChainAnchor = {
  genesisHash: CHAIN.genesis,
  final: { slot: FINAL, blockhash: at(FINAL).blockhash },
};

/** The same cluster by its genesis, with other blocks from a slot on. */
function forkedFrom(slot: number, { skipped = [] }: { skipped?: readonly number[] } = {}): FakeChain {
  const kept = BLOCKS.filter((block) => block.slot < slot);
  const slots = SLOTS.filter((each) => each >= slot && !skipped.includes(each));
  const parent = kept.at(-1) as SolanaBlock;
  return fakeChain([...kept, ...fakeBlocks(slots, { fork: 1, parent })]);
}

/** An endpoint whose chain a test can change. */
function switchable(chain: FakeChain): { now: FakeChain; readonly handler: Handler } {
  const held = { now: chain };
  return Object.assign(held, { handler: honest(() => held.now) });
}

describe("a source that is anchored to a final block", () => {
  for (const [words, chain] of [
    ["of another genesis", { ...CHAIN, genesis: fakeKey(9, 1) }],
    ["with another final block", forkedFrom(FINAL)],
    ["that skipped the final slot", forkedFrom(FINAL, { skipped: [FINAL, FINAL + 1] })],
  ] as const) {
    it(`sets an endpoint ${words} aside, reports it once, and uses it again when it agrees`, async () => {
      const a = switchable(chain);
      const { source, clock, lines, network, events } = setUpSource({
        "a.test": a.handler,
        "b.test": honest(CHAIN),
      });
      source.setAnchor(ANCHOR);
      for (let i = 0; i < 20; i++) {
        expect((await clock.run(source.link(130, "confirmed")))?.blockhash).to.equal(at(130).blockhash);
        await clock.run(clock.sleep(2_000));
      }
      const named = lines.filter((line) => line.includes("set aside"));
      expect(named).to.have.length(1);
      expect(named[0]).to.contain("a.test").and.not.contain("key-0123456789");
      expect(events.filter(({ kind }) => kind === "aside")).to.have.length(1);
      a.now = CHAIN;
      await clock.run(clock.sleep(6_000));
      const before = network.requestsTo("a.test").length;
      await clock.run(source.link(130, "confirmed"));
      expect(network.requestsTo("a.test").length).to.be.greaterThan(before);
      expect(lines.at(-1)).to.contain("agrees with the index again");
    });
  }

  it("notices within seconds that a URL leads to another chain", async () => {
    const a = switchable(CHAIN);
    const { source, clock, lines } = setUpSource({ "a.test": a.handler, "b.test": honest(CHAIN) });
    source.setAnchor(ANCHOR);
    await clock.run(source.head("confirmed"));
    a.now = forkedFrom(FINAL);
    for (let i = 0; i < 7; i++) {
      await clock.run(clock.sleep(2_000));
      await clock.run(source.head("confirmed"));
    }
    expect(lines.join()).to.contain(`has block ${forkedFrom(FINAL).blocks[20]?.blockhash}`);
    expect((await clock.run(source.link(130, "confirmed")))?.blockhash).to.equal(at(130).blockhash);
  });

  it("compares a response with the block that was requested, though the final block has moved on", async () => {
    const { source, clock, lines } = setUpSource({
      "a.test": (calls) => ({
        results: calls.map((call) => answerHonestly(CHAIN, call)),
        delayMs: 50,
      }),
    });
    source.setAnchor(ANCHOR);
    for (let slot = FINAL + 1; slot < FINAL + 15; slot++) {
      const recheck = source.recheck();
      await clock.run(clock.sleep(20));
      source.setAnchor({ ...ANCHOR, final: { slot, blockhash: at(slot).blockhash } });
      expect(await clock.run(recheck)).to.deep.equal([]);
    }
    expect(lines).to.deep.equal([]);
  });

  it("accepts an endpoint that is behind, has pruned the slot, or hides it", async () => {
    const behind = fakeChain(BLOCKS.slice(0, 10));
    const pruned = fakeChain(BLOCKS, { firstAvailable: 130 });
    for (const handler of [honest(behind), honest(pruned), withholding(CHAIN, [FINAL])]) {
      const { source, clock, lines } = setUpSource({ "a.test": handler });
      source.setAnchor(ANCHOR);
      expect(await clock.run(source.recheck())).to.deep.equal([]);
      expect(lines).to.deep.equal([]);
    }
  });

  it("reports each endpoint that contradicts if none agrees", async () => {
    const a = switchable(forkedFrom(FINAL));
    const b = switchable({ ...CHAIN, genesis: fakeKey(9, 1) });
    const { source, clock } = setUpSource({ "a.test": a.handler, "b.test": b.handler });
    source.setAnchor(ANCHOR);
    const found = await clock.run(source.recheck());
    expect(found.map(({ host }) => host)).to.deep.equal(["a.test", "b.test"]);
    expect(found[0]?.reason).to.contain(`in slot ${FINAL} is final in the index`);
    expect(found[1]?.reason).to.contain("wrong cluster: genesis hash");
    expect(String(await catchError(clock.run(source.head("confirmed"))))).to.contain("is final in the index");
    a.now = CHAIN;
    expect(await clock.run(source.recheck())).to.deep.equal([]);
  });

  it("accepts no accounts of another cluster, not even between two checks", async () => {
    let chain = CHAIN;
    const { source, clock } = setUpSource({
      "a.test": (calls) => ({
        results: calls.map((call) =>
          call.method === "getMultipleAccounts"
            ? { context: { slot: 5 }, value: [null] }
            : answerHonestly(chain, call),
        ),
      }),
    });
    source.setAnchor(ANCHOR);
    const readAccount = () => source.accounts([fakeKey(1, 1)], "confirmed");
    expect(await clock.run(readAccount())).to.deep.equal({ slot: 5, accounts: [null] });
    chain = forkedFrom(FINAL);
    expect(String(await catchError(clock.run(readAccount())))).to.contain("is final in the index");
  });
});
