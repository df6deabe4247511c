import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { createHeaderChain, ForkTooDeep, type HeaderChain } from "./chain.ts";
import { type BlockHeader, type EvmSource, UpstreamError } from "./port.ts";
import { fakeHeader } from "./testkit.ts";

type Source = Pick<EvmSource, "head" | "headers">;

/** A chain of blocks 0…head of which those above `forkedAt` belong to fork 1. */
function createSource(head: number, forkedAt: number): Source & { asked: number } {
  const header = (number: number): BlockHeader =>
    fakeHeader(number, { fork: number > forkedAt ? 1 : 0, parentFork: number - 1 > forkedAt ? 1 : 0 });
  const source = {
    asked: 0,
    head: async () => header(head),
    async headers(numbers: readonly number[]) {
      source.asked += numbers.length;
      return numbers.map((number) => (number > head ? null : header(number)));
    },
  };
  return source;
}

function createChain(from: number, to: number): HeaderChain {
  const chain = createHeaderChain();
  for (let number = from; number <= to; number++) chain.append(fakeHeader(number));
  return chain;
}

describe("createHeaderChain", () => {
  it("takes only the child of its tip", () => {
    const chain = createChain(10, 20);
    expect(chain.fits(fakeHeader(21))).to.equal(true);
    for (const other of [fakeHeader(22), fakeHeader(20), fakeHeader(21, { parentFork: 1 })]) {
      expect(chain.fits(other)).to.equal(false);
      expect(() => chain.append(other)).to.throw(RangeError, /after block 20/);
    }
  });

  it("keeps at least 256 blocks and not for ever more", () => {
    const chain = createChain(1, 5000);
    expect(chain.links().length).to.be.within(256, 512);
    expect(chain.at(5000 - 255)?.number).to.equal(5000 - 255);
    expect(chain.at(5001)).to.equal(undefined);
    expect(chain.at(1)).to.equal(undefined);
  });

  it("keeps everything that is not finalized", () => {
    const chain = createHeaderChain();
    chain.setFinalized(100);
    for (let number = 1; number <= 3000; number++) chain.append(fakeHeader(number));
    expect(chain.oldest()?.number).to.be.at.most(100);
    chain.setFinalized(2900);
    expect(chain.oldest()?.number).to.be.within(2400, 2745);
  });

  it("goes on from the links of an earlier run", () => {
    const again = createHeaderChain({ links: createChain(1, 300).links() });
    expect(again.tip()?.number).to.equal(300);
    again.append(fakeHeader(301));
  });

  it("finds the last common block of any fork, or says that the node is behind or the fork too deep", () =>
    fc.assert(
      fc.asyncProperty(
        fc.record({
          from: fc.integer({ min: 1, max: 50 }),
          length: fc.integer({ min: 1, max: 256 }),
          forkBelowTip: fc.integer({ min: 0, max: 400 }),
          headAboveTip: fc.integer({ min: -300, max: 50 }),
        }),
        async ({ from, length, forkBelowTip, headAboveTip }) => {
          const tip = from + length - 1;
          const forkedAt = tip - forkBelowTip;
          const head = Math.max(0, tip + headAboveTip);
          const chain = createChain(from, tip);
          const isBehind = head < tip && (head <= forkedAt || head < from);
          let result: unknown;
          try {
            result = await chain.findFork(createSource(head, forkedAt));
          } catch (error) {
            result = error;
          }
          if (isBehind) expect(result).to.deep.equal({ kind: "behind", headNumber: head });
          else if (forkedAt >= tip) expect(result).to.deep.equal({ kind: "same" });
          else if (forkedAt < from) {
            expect(result).to.be.instanceOf(ForkTooDeep);
            expect((result as ForkTooDeep).oldestKept.number).to.equal(from);
          } else {
            const { number, hash, parentHash } = fakeHeader(forkedAt);
            expect(result).to.deep.equal({
              kind: "fork",
              common: { number, hash, parentHash },
              depth: tip - forkedAt,
            });
          }
        },
      ),
      { numRuns: 300 },
    ));

  it("asks for few headers where the fork is shallow", async () => {
    const source = createSource(300, 298);
    await createChain(1, 300).findFork(source);
    expect(source.asked).to.be.at.most(4);
  });

  it("can go on after rewinding to the common block", async () => {
    const chain = createChain(1, 300);
    const check = await chain.findFork(createSource(310, 290));
    if (check.kind !== "fork") throw new Error("no fork found");
    chain.rewindTo(check.common.number);
    expect(chain.fits(fakeHeader(291, { fork: 1 }))).to.equal(true);
  });

  it("does not take answers of two forks for one chain", async () => {
    const honest = createSource(300, 200);
    const torn: Source = {
      head: honest.head,
      headers: async (numbers) =>
        (await honest.headers(numbers)).map((header, i) =>
          i === 1 ? fakeHeader(numbers[i] ?? 0, { fork: 5 }) : header,
        ),
    };
    let error: unknown;
    await createChain(1, 300)
      .findFork(torn)
      .catch((thrown: unknown) => {
        error = thrown;
      });
    expect(error).to.be.instanceOf(UpstreamError);
  });

  it("knows nothing of forks while it is empty", async () => {
    expect(await createHeaderChain().findFork(createSource(5, 5))).to.deep.equal({ kind: "same" });
  });
});
