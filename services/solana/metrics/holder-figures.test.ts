import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { computeRanks, computeShare } from "./holder-figures.ts";

describe("ranksOf", () => {
  it("has the places of known counts", () => {
    expect(computeRanks(1)).to.deep.equal({ median: [0], bottom10: 0, top10: 0 });
    expect(computeRanks(2)).to.deep.equal({ median: [0, 1], bottom10: 0, top10: 1 });
    expect(computeRanks(10)).to.deep.equal({ median: [4, 5], bottom10: 0, top10: 9 });
    expect(computeRanks(11)).to.deep.equal({ median: [5], bottom10: 1, top10: 9 });
    expect(computeRanks(100)).to.deep.equal({ median: [49, 50], bottom10: 9, top10: 90 });
  });

  it("has a tenth of the holders at or below, and at or above", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(50), { minLength: 1, maxLength: 60 }), (found) => {
        const balances = found.sort((a, b) => a - b);
        const { bottom10, top10 } = computeRanks(balances.length);
        const [low, high] = [balances[bottom10] as number, balances[top10] as number];
        const tenth = balances.length / 10;
        expect(balances.filter((each) => each <= low).length).to.be.at.least(tenth);
        expect(balances.filter((each) => each < low).length).to.be.below(tenth);
        expect(balances.filter((each) => each >= high).length).to.be.at.least(tenth);
        expect(balances.filter((each) => each > high).length).to.be.below(tenth);
      }),
    );
  });
});

describe("shareOf", () => {
  it("is a fraction of the supply, unknown without one", () => {
    expect(computeShare(25n, 100n)).to.equal(0.25);
    expect(computeShare(25n, null)).to.equal(null);
    expect(computeShare(25n, 0n)).to.equal(null);
  });
});
