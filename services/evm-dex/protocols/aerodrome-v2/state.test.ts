import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { EMPTY_V2_STATE, holdingsOf, readV2Holdings, readV2State, writeV2State } from "./state.ts";

const amount = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
const anyState = fc.record({
  reserve0: amount,
  reserve1: amount,
  totalSupply: amount,
  fee: fc.nat(10_000),
  defaultFee: fc.nat(10_000),
  hasCustomFee: fc.boolean(),
  index0: amount,
  index1: amount,
  swapFee0: amount,
  swapFee1: amount,
  isSwapping: fc.boolean(),
  gauge: fc.option(
    fc.bigInt({ min: 1n, max: 2n ** 160n - 1n }).map((n) => `0x${n.toString(16).padStart(40, "0")}`),
    { nil: undefined },
  ),
  isGaugeAlive: fc.boolean(),
  staked: amount,
  rewardRate: amount,
  periodFinish: fc.nat(2 ** 31 - 1),
});

describe("the state of a v2 pool", () => {
  it("is kept as text", () => {
    fc.assert(
      fc.property(anyState, (state) => {
        expect(readV2State(writeV2State(state))).to.deep.equal(state);
      }),
    );
    expect(readV2State(writeV2State(EMPTY_V2_STATE))).to.deep.equal(EMPTY_V2_STATE);
  });

  it("gives its holdings without parsing the whole text", () => {
    fc.assert(
      fc.property(anyState, (state) => {
        expect(readV2Holdings(writeV2State(state))).to.deep.equal(holdingsOf(state));
      }),
    );
    expect(holdingsOf({ ...EMPTY_V2_STATE, reserve0: 2n ** 53n + 1n, gauge: "0x01" })).to.include({
      reserve0: 2 ** 53,
      hasGauge: true,
    });
    expect(readV2Holdings(writeV2State(EMPTY_V2_STATE)).hasGauge).to.equal(false);
  });

  it("is not read from anything else", () => {
    expect(() => readV2State("1 2 3")).to.throw(/Cannot read reserve0.*"1 2 3"/);
  });
});
