import { expect } from "chai";
import { describe, it } from "mocha";
import { findTransferFeeBps, findUiMultiplier } from "./mint-extensions.ts";

const YEAR = 31_556_736;

describe("extensions of a mint", () => {
  it("have the fee of the epoch", () => {
    const transferFee = { olderBps: 50, newerBps: 200, newerEpoch: 12 };
    expect(findTransferFeeBps({ transferFee }, 12 * 432_000 - 1)).to.equal(50);
    expect(findTransferFeeBps({ transferFee }, 12 * 432_000)).to.equal(200);
    expect(findTransferFeeBps({}, 5)).to.equal(0);
  });

  it("have the multiplier of the time", () => {
    const scaledAmount = { older: 1.5, newer: 3, newerTime: 7_000 };
    expect([6_999, 7_000].map((time) => findUiMultiplier({ scaledAmount }, time))).to.deep.equal([1.5, 3]);
    expect(findUiMultiplier({}, 9)).to.equal(1);
  });

  it("grow by continuous interest, at the rate of each time", () => {
    // A year at 5 %, then half a year at -2 %.
    const interest = { startTime: 1_000, averageBps: 500, updateTime: 1_000 + YEAR, currentBps: -200 };
    expect(findUiMultiplier({ interest }, 1_000 + YEAR)).to.be.closeTo(Math.exp(0.05), 1e-12);
    expect(findUiMultiplier({ interest }, 1_000 + 1.5 * YEAR)).to.be.closeTo(Math.exp(0.04), 1e-12);
  });
});
