import { expect } from "chai";
import { describe, it } from "mocha";
import { addSwaps, computeSwapShare, NO_SWAPS } from "./swap-share.ts";

describe("the share of swaps", () => {
  it("is that of the last hour, and forgets what is older", () => {
    let sums = NO_SWAPS;
    for (let i = 0; i < 100; i++) sums = addSwaps(sums, { trades: 3, otherSwaps: 1 });
    expect(computeSwapShare(sums)).to.equal(0.75);
    for (let i = 0; i < 90_000; i++) sums = addSwaps(sums, { trades: 1, otherSwaps: 3 });
    expect(computeSwapShare(sums)).to.equal(0.25);
  });

  it("is unknown without swaps, and where other programs are not read", () => {
    expect(computeSwapShare(NO_SWAPS)).to.equal(undefined);
    expect(computeSwapShare(addSwaps(NO_SWAPS, { trades: 3, otherSwaps: null }))).to.equal(undefined);
  });
});
