import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { toWhole } from "./amount.ts";

describe("raw amounts in whole tokens", () => {
  it("are the nearest float of the decimal text", () => {
    const raw = fc.oneof(
      fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
      fc.bigInt({ min: 2n ** 53n - 9n, max: 2n ** 53n + 9n }),
      fc.bigInt({ min: 0n, max: 1_000n }),
    );
    fc.assert(
      fc.property(raw, fc.integer({ min: 0, max: 30 }), (amount, decimals) => {
        expect(toWhole(amount, decimals)).to.equal(Number(`${amount}e-${decimals}`));
      }),
      { numRuns: 2_000 },
    );
  });
});
