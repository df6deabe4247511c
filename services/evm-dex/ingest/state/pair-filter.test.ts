import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { randomRuns } from "../../../shared/testkit/describe.ts";
import { address } from "../../test/kit/rows.ts";
import { readAddress } from "./address-words.ts";
import { hashOf, PairFilter } from "./pair-filter.ts";

function wordsOf(user: number): Uint32Array {
  const words = new Uint32Array(5);
  readAddress(address(user), words);
  return words;
}

describe("PairFilter", () => {
  it("has all that was added", () => {
    const anyUser = fc.uint32Array({ minLength: 5, maxLength: 5 });
    const anyPairs = fc.array(fc.tuple(fc.string(), anyUser), { maxLength: 60 });
    fc.assert(
      fc.property(anyPairs, (pairs) => {
        // One line: every pair meets bits of others.
        const filter = new PairFilter(16);
        for (const [pool, user] of pairs) filter.add(hashOf(pool), user);
        for (const [pool, user] of pairs) expect(filter.mayHave(hashOf(pool), user)).to.equal(true);
      }),
      { numRuns: randomRuns(200) },
    );
  });

  it("has few others: of addresses that differ in a digit, in either text, one in a hundred at eleven bits a pair", () => {
    const words = 2 ** 14;
    const filter = new PairFilter(words);
    const pairs = Math.floor((32 * words) / 11);
    const [pools, users] = [100, Math.floor(pairs / 100)];
    const visit = (from: number, at: (pool: number, user: Uint32Array) => void) => {
      for (let pool = 0; pool < pools; pool++)
        for (let user = from; user < from + users; user++) at(hashOf(address(pool)), wordsOf(user));
    };
    visit(0, (pool, user) => filter.add(pool, user));
    let wrong = 0;
    visit(users, (pool, user) => {
      if (filter.mayHave(pool, user)) wrong += 1;
    });
    expect(wrong / (pools * users)).to.be.within(0.001, 0.03);
    expect(filter.count / (pools * users), "seen as new when they were added").to.be.within(0.97, 1);
  });

  it("tells a pair from one of the same addresses in the other order", () => {
    const filter = new PairFilter();
    filter.add(hashOf(address(1)), wordsOf(2));
    expect(filter.mayHave(hashOf(address(2)), wordsOf(1))).to.equal(false);
  });
});
