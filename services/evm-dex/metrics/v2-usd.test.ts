import { expect } from "chai";
import { describe, it } from "mocha";
import { pairUsd, v2SwapUsd } from "./v2-usd.ts";

describe("USD of v2 amounts", () => {
  it("is half of both sides for a swap, whatever their signs", () => {
    expect(v2SwapUsd({ amount0: 2, amount1: -6000, price0Usd: 3000, price1Usd: 1.01 })).to.equal(6030);
    expect(v2SwapUsd({ amount0: -2, amount1: 6000, price0Usd: 3000, price1Usd: 1.01 })).to.equal(6030);
  });

  it("is the sum of both sides for anything held", () => {
    expect(pairUsd({ amount0: 2, amount1: 500, price0Usd: 3000, price1Usd: 0.5 })).to.equal(6250);
  });

  it("is unknown as soon as one price is, even of a side that is empty", () => {
    for (const price of [
      { price0Usd: null, price1Usd: 1 },
      { price0Usd: 1, price1Usd: null },
      { price0Usd: null, price1Usd: null },
    ]) {
      expect(v2SwapUsd({ amount0: 1, amount1: -1, ...price })).to.equal(null);
      expect(pairUsd({ amount0: 0, amount1: 0, ...price })).to.equal(null);
    }
  });

  it("is unknown where it overflows", () => {
    expect(pairUsd({ amount0: 1e300, amount1: 0, price0Usd: 1e300, price1Usd: 1 })).to.equal(null);
    expect(v2SwapUsd({ amount0: 1e300, amount1: 0, price0Usd: 1e300, price1Usd: 1 })).to.equal(null);
  });
});
