import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import type { RpcCall } from "../../shared/rpc-client/endpoint/transport.ts";
import { RpcFailure } from "../../shared/rpc-client/testkit/fake-network.ts";
import { randomRuns } from "../../shared/testkit/describe.ts";
import { type SolanaBlock, SolanaUpstreamError } from "./port.ts";
import {
  answerHonestly,
  catchError,
  fakeBlocks,
  fakeChain,
  fakeKey,
  type Handler,
  honest,
  setUpSource,
  withholding,
} from "./testkit/fake-chain.ts";

/** Slots 100–139 without 103, 110–112 and 139. */
const SKIPPED = [103, 110, 111, 112, 139];
const SLOTS = Array.from({ length: 45 }, (_, i) => 100 + i).filter((slot) => !SKIPPED.includes(slot));
const BLOCKS = fakeBlocks(SLOTS);
const CHAIN = fakeChain(BLOCKS);
const slotsOf = (blocks: readonly SolanaBlock[]) => blocks.map(({ slot }) => slot);
const inRange = (from: number, to: number) => SLOTS.filter((slot) => slot >= from && slot <= to);
const range = (fromSlot: number, toSlot: number) => ({ fromSlot, toSlot, commitment: "confirmed" as const });

describe("SolanaSource.blocks", () => {
  it("returns the produced blocks of a range, without skipped slots", async () => {
    const { source, clock } = setUpSource({ "a.test": honest(CHAIN) });
    const blocks = await clock.run(source.blocks(range(101, 120)));
    expect(blocks).to.deep.equal(BLOCKS.filter(({ slot }) => slot >= 101 && slot <= 120));
  });

  it("requests only the blocks where none is missing", async () => {
    const { source, clock, network } = setUpSource({ "a.test": honest(CHAIN), "b.test": honest(CHAIN) });
    await clock.run(source.blocks(range(104, 109)));
    const methods = new Set(
      network.requestsTo("a.test").flatMap(({ calls }) => calls.map(({ method }) => method)),
    );
    expect([...methods]).to.deep.equal(["getBlock"]);
    expect(network.requestsTo("b.test")).to.have.length(0);
  });

  it("proves skipped slots by getBlocks of two endpoints where there are two", async () => {
    const hosts = { "a.test": honest(CHAIN), "b.test": honest(CHAIN), "c.test": honest(CHAIN) };
    const { source, clock, network } = setUpSource(hosts);
    await clock.run(source.blocks(range(101, 105)));
    const requests = ["a.test", "b.test", "c.test"].map(
      (host) =>
        network.requestsTo(host).filter(({ calls }) => calls.some(({ method }) => method === "getBlocks"))
          .length,
    );
    expect(requests).to.deep.equal([1, 1, 0]);
  });

  it("proves a skipped end of the range by the block that follows it, and a whole range of skips too", async () => {
    const { source, clock } = setUpSource({ "a.test": honest(CHAIN) });
    expect(slotsOf(await clock.run(source.blocks(range(108, 111))))).to.deep.equal([108, 109]);
    expect(await clock.run(source.blocks(range(110, 111)))).to.deep.equal([]);
    expect(await clock.run(source.blocks(range(5, 4)))).to.deep.equal([]);
  });

  it("looks far for the block that follows a long outage", async () => {
    const chain = fakeChain(fakeBlocks([100, 101, 1000, 1001]));
    const { source, clock } = setUpSource({ "a.test": honest(chain) });
    expect(slotsOf(await clock.run(source.blocks(range(100, 120))))).to.deep.equal([100, 101]);
  });

  it("waits for the block that follows, and fails when none comes", async () => {
    const { source, clock } = setUpSource({ "a.test": honest(CHAIN) });
    const error = await catchError(clock.run(source.blocks(range(140, 146))));
    expect(error).to.be.instanceOf(SolanaUpstreamError);
    expect(error.message).to.match(
      /^solana: slots 140-146 .* a\.test: slot 146 has no block, and no later block exists yet/,
    );

    const late = setUpSource({
      "a.test": honest(() => (late.clock.now() < 3_000 ? CHAIN : fakeChain(fakeBlocks([...SLOTS, 147])))),
    });
    expect(slotsOf(await late.clock.run(late.source.blocks(range(140, 146))))).to.deep.equal(
      inRange(140, 146),
    );
  });

  for (const where of [101, 115, 120]) {
    it(`detects a node that hides slot ${where}, and reads it from another`, async () => {
      const { source, clock, lines } = setUpSource({
        "a.test": withholding(CHAIN, [where]),
        "b.test": honest(CHAIN),
      });
      // Only the hider receives the first request: the other endpoint reports later that it has the block.
      expect(slotsOf(await clock.run(source.blocks(range(101, 120))))).to.deep.equal(inRange(101, 120));
      expect(lines.join()).not.to.contain("key-0123456789");
    });

    it(`does not take slot ${where} for skipped when the only node hides it`, async () => {
      const { source, clock } = setUpSource({ "a.test": withholding(CHAIN, [where]) });
      const error = await catchError(clock.run(source.blocks(range(101, 120))));
      expect(error).to.be.instanceOf(SolanaUpstreamError);
      expect(error.message).to.contain(`slot ${where}`).and.to.contain("a.test");
    });
  }

  it("finds a block that both lists lack, by the parent that the next block names", async () => {
    let now = 0;
    // For two seconds no endpoint has it.
    const late: Handler = (calls) => (now < 2_000 ? withholding(CHAIN, [115]) : honest(CHAIN))(calls);
    const { source, clock, lines } = setUpSource({
      "a.test": (calls) => {
        now = clock.now();
        return late(calls);
      },
    });
    expect(slotsOf(await clock.run(source.blocks(range(113, 118))))).to.deep.equal(inRange(113, 118));
    expect(lines.join()).to.contain('a slot reported as skipped has a block {"slot":115,"host":"a.test"}');
  });

  it("requests a slot from the one endpoint that does not fail on it", async () => {
    const failing: Handler = (calls) =>
      calls[0]?.method === "getBlock" && calls[0].params[0] === 103
        ? { status: 502, body: "" }
        : honest(CHAIN)(calls);
    const { source, clock } = setUpSource({ "a.test": failing, "b.test": failing, "c.test": honest(CHAIN) });
    expect(slotsOf(await clock.run(source.blocks(range(101, 105))))).to.deep.equal([101, 102, 104, 105]);
    expect(clock.now()).to.be.below(5_000);
  });

  it("rejects a chain that was forged around a hidden block, when another endpoint lists that block", async () => {
    // As if 115 had never been: its child names 114 as its parent.
    const forged = BLOCKS.map((block) =>
      block.slot === 116 ? { ...block, parentSlot: 114, previousBlockhash: hashOf(114) } : block,
    ).filter(({ slot }) => slot !== 115);
    const unlisted: Handler = honest(fakeChain(forged));
    // The honest one does not answer at first, so that the forger alone decides about 115.
    let busy = true;
    const { source, clock } = setUpSource({
      "a.test": unlisted,
      "b.test": (calls) => {
        if (busy && calls[0]?.method === "getBlock") return { status: 410, body: "{}" };
        if (calls.some(({ method }) => method === "getBlocks")) busy = false;
        return honest(CHAIN)(calls);
      },
    });
    const blocks = await clock.run(source.blocks(range(113, 118)));
    expect(blocks).to.deep.equal(BLOCKS.filter(({ slot }) => slot >= 113 && slot <= 118));
  });

  it("switches to the other fork when that was confirmed meanwhile", async () => {
    const trunk = fakeBlocks([100, 101, 102]);
    const parent = trunk[2] as SolanaBlock;
    const first = fakeChain([...trunk, ...fakeBlocks([103, 104], { fork: 1, parent })]);
    const second = fakeChain([...trunk, ...fakeBlocks([105, 106, 107], { fork: 2, parent })]);
    let blocks = 0;
    const { source, clock } = setUpSource({
      "a.test": (calls) => {
        if (calls[0]?.method === "getBlock") blocks += 1;
        return honest(blocks <= 4 ? first : second)(calls);
      },
    });
    const found = await clock.run(source.blocks(range(101, 106)));
    expect(found).to.deep.equal(second.blocks.filter(({ slot }) => slot >= 101 && slot <= 106));
  });

  it("never mixes two endpoints' forks", async () => {
    const trunk = fakeBlocks([100, 101, 102]);
    const parent = trunk[2] as SolanaBlock;
    const one = fakeChain([...trunk, ...fakeBlocks([103, 104, 106, 107], { fork: 1, parent })]);
    const other = fakeChain([...trunk, ...fakeBlocks([103, 105, 106, 107], { fork: 2, parent })]);
    const odd: Handler = (calls) => {
      const isOdd = calls[0]?.method === "getBlock" && Number(calls[0].params[0]) % 2 === 1;
      return isOdd ? { results: [new RpcFailure(-32000, "busy")] } : honest(one)(calls);
    };
    const { source, clock } = setUpSource({ "a.test": odd, "b.test": honest(other) });
    const ended = await clock.run(source.blocks(range(101, 107)).catch((error: unknown) => error));
    if (Array.isArray(ended)) expect([one.blocks.slice(1), other.blocks.slice(1)]).to.deep.include(ended);
    else expect(ended).to.be.instanceOf(SolanaUpstreamError);
  });

  it("accepts as a proof no list of a pruned node, and none that ends before the range does", async () => {
    const pruned = honest({ ...CHAIN, firstAvailable: 130 });
    const behind = honest(fakeChain(BLOCKS.filter(({ slot }) => slot <= 105)));
    const alone = setUpSource({ "a.test": pruned });
    const error = await catchError(alone.clock.run(alone.source.blocks(range(101, 105))));
    expect(error.message).to.contain("cleaned up");
    const { source, clock, network } = setUpSource({
      "a.test": pruned,
      "b.test": behind,
      "c.test": honest(CHAIN),
    });
    expect(slotsOf(await clock.run(source.blocks(range(109, 113))))).to.deep.equal(inRange(109, 113));
    const witnesses = network.requestsTo("c.test").flatMap(({ calls }) => calls.map(({ method }) => method));
    expect(witnesses).to.include("getBlocks");
  });

  for (const [name, spoil] of [
    ["another slot's block", (block: Answer) => ({ ...block, parentSlot: block.parentSlot + 5 })],
    ["a block without hashes", (block: Answer) => ({ ...block, blockhash: "0x12" })],
    ["a block without transactions", ({ transactions: _, ...block }: Answer) => block],
    ["a block without its parent", ({ parentSlot: _, ...block }: Answer) => block],
    ["a text", () => "block"],
    [
      "an index out of reach",
      (block: Answer) =>
        withTransaction(block, "message", {
          accountKeys: [],
          instructions: [{ programIdIndex: 3, accounts: [], data: "" }],
        }),
    ],
    ["balances of too few accounts", (block: Answer) => withMeta(block, { preBalances: [1] })],
    [
      "an amount that is a number",
      (block: Answer) =>
        withMeta(block, {
          postTokenBalances: [
            { accountIndex: 0, mint: fakeKey(1, 1), uiTokenAmount: { amount: 5, decimals: 6 } },
          ],
        }),
    ],
    [
      "inner instructions whose index is no number",
      (block: Answer) => withMeta(block, { innerInstructions: [{ index: "0", instructions: [] }] }),
    ],
  ] as const) {
    it(`rejects ${name}, and reads from another endpoint`, async () => {
      const spoiled: Handler = (calls) => ({
        results: calls.map((call) => {
          const result = answerHonestly(CHAIN, call);
          return call.method === "getBlock" && !(result instanceof RpcFailure)
            ? spoil(result as Answer)
            : result;
        }),
      });
      const { source, clock, lines } = setUpSource({ "a.test": spoiled, "b.test": honest(CHAIN) });
      expect(slotsOf(await clock.run(source.blocks(range(104, 105))))).to.deep.equal([104, 105]);
      expect(lines.join()).to.contain("untrusted response");
    });
  }

  it("leaves votes out, and counts them in the places of the others", async () => {
    const vote = {
      transaction: {
        signatures: [fakeKey(7, 1, 64)],
        message: {
          accountKeys: [fakeKey(1, 1), "Vote111111111111111111111111111111111111111"],
          instructions: [{ programIdIndex: 1, accounts: [0], data: "" }],
        },
      },
      meta: null,
    };
    const blocks = BLOCKS.map((block) => ({ ...block, transactions: [vote, ...block.transactions, vote] }));
    const { source, clock } = setUpSource({ "a.test": honest(fakeChain(blocks)) });
    const placed = BLOCKS.filter(({ slot }) => slot === 104 || slot === 105).map((block) => ({
      ...block,
      transactions: block.transactions.map((each) => ({ ...each, transactionIndex: 1 })),
    }));
    expect(await clock.run(source.blocks(range(104, 105)))).to.deep.equal(placed);
  });

  it("returns the whole chain or fails, whatever two of three endpoints hide, refuse or delay", async () => {
    const slots = fc.uniqueArray(fc.integer({ min: 101, max: 130 }), { maxLength: 12 });
    const fault = fc.record({ hidden: slots, failing: slots, delays: fc.infiniteStream(fc.nat(50)) });
    const run = async (
      skipped: number[],
      faults: readonly { hidden: number[]; failing: number[]; delays: IterableIterator<number> }[],
      [from, length]: readonly [number, number],
    ) => {
      const chain = fakeChain(
        fakeBlocks(Array.from({ length: 40 }, (_, i) => 100 + i).filter((slot) => !skipped.includes(slot))),
      );
      const unruly = faults.map(
        ({ hidden, failing, delays }): Handler =>
          (calls: readonly RpcCall[]) => {
            const slot = Number(calls[0]?.params[0]);
            if (calls[0]?.method === "getBlock" && failing.includes(slot)) return { status: 502, body: "" };
            const answer = withholding(chain, hidden)(calls);
            return typeof answer === "string" ? answer : { ...answer, delayMs: delays.next().value ?? 0 };
          },
      );
      const { source, clock } = setUpSource({
        "a.test": unruly[0] ?? ("reset" as never),
        "b.test": unruly[1] ?? ("reset" as never),
        "c.test": honest(chain),
      });
      const requested = range(from, Math.min(from + length, 130));
      const found = await clock.run(source.blocks(requested));
      expect(found).to.deep.equal(
        chain.blocks.filter(({ slot }) => slot >= requested.fromSlot && slot <= requested.toSlot),
      );
    };
    await fc.assert(
      fc.asyncProperty(
        slots,
        fc.tuple(fault, fault),
        fc.tuple(fc.integer({ min: 101, max: 128 }), fc.nat(20)),
        run,
      ),
      { numRuns: randomRuns(60) },
    );
  });
});

type Answer = Record<string, unknown> & { parentSlot: number };

function hashOf(slot: number): string {
  return BLOCKS.find((block) => block.slot === slot)?.blockhash ?? "";
}

function withTransaction(block: Answer, key: string, value: unknown): unknown {
  const [first] = block.transactions as { transaction: object }[];
  return { ...block, transactions: [{ ...first, transaction: { ...first?.transaction, [key]: value } }] };
}

function withMeta(block: Answer, meta: object): unknown {
  const [first] = block.transactions as { meta: object }[];
  return { ...block, transactions: [{ ...first, meta: { ...first?.meta, ...meta } }] };
}
