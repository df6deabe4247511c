import { expect } from "chai";
import { describe, it } from "mocha";
import { rewardApr, swapFeeApr, totalApr } from "./v2-apr.ts";

describe("swapFeeApr", () => {
  it("annualises the fees of its days on the TVL", () => {
    // 70 USD in 7 days are 10 a day, 3,650 a year: on 36,500 USD a tenth.
    expect(swapFeeApr(70, { days: 7, tvlUsd: 36_500 })).to.be.closeTo(0.1, 1e-15);
    expect(swapFeeApr(10, { days: 1, tvlUsd: 36_500 })).to.be.closeTo(0.1, 1e-15);
    expect(swapFeeApr(0, { days: 30, tvlUsd: 5 })).to.equal(0);
  });

  it("is unknown without fees, without a TVL, and where nothing is locked", () => {
    expect(swapFeeApr(null, { days: 7, tvlUsd: 1 })).to.equal(null);
    expect(swapFeeApr(1, { days: 7, tvlUsd: null })).to.equal(null);
    expect(swapFeeApr(1, { days: 7, tvlUsd: 0 })).to.equal(null);
  });
});

describe("rewardApr", () => {
  const rewards = { rate: 0.001, periodFinish: 1_000, priceUsd: 2, stakedUsd: 315_360 };

  it("annualises what the gauge pays on what is staked in it", () => {
    // 31,536,000 seconds × 0.001 × 2 USD = 63,072 USD.
    expect(rewardApr(rewards, 999)).to.be.closeTo(0.2, 1e-15);
  });

  it("is 0 without a gauge, and when nothing is paid any more", () => {
    expect(rewardApr(undefined, 5)).to.equal(0);
    expect(rewardApr(rewards, 1_000)).to.equal(0);
    expect(rewardApr({ ...rewards, rate: 0 }, 5)).to.equal(0);
    expect(rewardApr({ ...rewards, priceUsd: null, stakedUsd: null }, 1_000), "no price needed").to.equal(0);
  });

  it("is unknown while rewards run and a price is missing or nothing is staked", () => {
    expect(rewardApr({ ...rewards, priceUsd: null }, 999)).to.equal(null);
    expect(rewardApr({ ...rewards, stakedUsd: null }, 999)).to.equal(null);
    expect(rewardApr({ ...rewards, stakedUsd: 0 }, 999)).to.equal(null);
  });
});

describe("totalApr", () => {
  it("is the sum, unknown as soon as a part is", () => {
    expect(totalApr(0.5, 0.25)).to.equal(0.75);
    expect(totalApr(null, 0)).to.equal(null);
    expect(totalApr(0, null)).to.equal(null);
  });
});
