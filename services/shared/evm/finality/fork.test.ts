import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { fakeHash, fakeHeader } from "../testkit/fake-chain.ts";
import { lastOnChain, type StoredBlock, searchFork } from "./fork.ts";

const block = (number: number): StoredBlock => ({ number, hash: fakeHash(number), time: 1000 + number });

/** A chain of `head` blocks, those above `fork` of another branch; counts the requests. */
function chainOf({ head, fork }: { head: number; fork: number }) {
  const requested: (readonly number[])[] = [];
  return {
    requested,
    async headers(numbers: readonly number[]) {
      requested.push(numbers);
      return numbers.map((number) =>
        number > head ? null : fakeHeader(number, { fork: number > fork ? 1 : 0 }),
      );
    },
  };
}

describe("lastOnChain", () => {
  it("is the highest block that the chain has, in any order, by one request", async () => {
    const chain = chainOf({ head: 20, fork: 12 });
    expect(await lastOnChain(chain, [9, 14, 11, 12, 30].map(block))).to.deep.equal(block(12));
    expect(chain.requested).to.have.length(1);
    expect(await lastOnChain(chain, [13, 25].map(block))).to.equal(undefined);
  });
});

describe("searchFork", () => {
  it("is the last stored block on the chain, with one request per halving", async () => {
    const places = fc.record({
      rows: fc.uniqueArray(fc.integer({ min: 0, max: 500 }), { maxLength: 100 }),
      fork: fc.integer({ min: -1, max: 510 }),
      low: fc.integer({ min: 0, max: 100 }),
    });
    await fc.assert(
      fc.asyncProperty(places, async ({ rows, fork, low }) => {
        const chain = chainOf({ head: 600, fork });
        const inRange = rows.filter((number) => number >= low).sort((a, b) => b - a);
        const found = await searchFork(chain, {
          low,
          high: 500,
          async lastRow(range) {
            const number = inRange.find((each) => each <= range.high && each >= range.low);
            return number === undefined ? undefined : block(number);
          },
        });
        expect(found?.number).to.equal(inRange.find((number) => number <= fork));
        expect(chain.requested.length).to.be.at.most(1 + Math.ceil(Math.log2(501)));
      }),
    );
  });
});
