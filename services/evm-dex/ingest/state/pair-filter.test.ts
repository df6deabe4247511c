import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { randomRuns } from "../../../shared/testkit/describe.ts";
import { address } from "../../test/kit/rows.ts";
import { hashOf, PairFilter } from "./pair-filter.ts";

describe("PairFilter", () => {
  it("has all that was added", () => {
    const anyPairs = fc.array(fc.tuple(fc.string(), fc.string({ unit: "binary" })), { maxLength: 60 });
    fc.assert(
      fc.property(anyPairs, (pairs) => {
        // One line: every pair meets bits of others.
        const filter = new PairFilter(16);
        for (const [first, second] of pairs) filter.add(hashOf(first), second);
        for (const [first, second] of pairs) expect(filter.mayHave(hashOf(first), second)).to.equal(true);
      }),
      { numRuns: randomRuns(200) },
    );
  });

  it("has few others: of addresses that differ in a digit, in either text, one in a hundred at eleven bits a pair", () => {
    const words = 2 ** 14;
    const filter = new PairFilter(words);
    const pairs = Math.floor((32 * words) / 11);
    const [pools, users] = [100, Math.floor(pairs / 100)];
    const visit = (from: number, at: (pool: number, user: string) => void) => {
      for (let pool = 0; pool < pools; pool++)
        for (let user = from; user < from + users; user++) at(hashOf(address(pool)), address(user));
    };
    visit(0, (pool, user) => filter.add(pool, user));
    let wrong = 0;
    visit(users, (pool, user) => {
      if (filter.mayHave(pool, user)) wrong += 1;
    });
    expect(wrong / (pools * users)).to.be.within(0.001, 0.03);
    expect(filter.count / (pools * users), "seen as new when they were added").to.be.within(0.97, 1);
  });

  it("tells a pair from one of the same texts in the other order", () => {
    const filter = new PairFilter();
    filter.add(hashOf("a"), "b");
    expect(filter.mayHave(hashOf("b"), "a")).to.equal(false);
  });
});
