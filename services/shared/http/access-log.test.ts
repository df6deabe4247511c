import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { numberText } from "./access-log.ts";

describe("host/access-log", () => {
  it("writes every number as JSON does", () => {
    for (const value of [0, 0.001, 0.01, 0.1, 0.12, 1.005, 12, 999_999.999, 1_000_000.5, 0.0001, -1.5, 1e21])
      expect(numberText(value)).to.equal(JSON.stringify(value));
    const thousandths = fc.integer({ min: 0, max: 2_000_000_000 }).map((count) => count / 1000);
    fc.assert(
      fc.property(fc.oneof(thousandths, fc.double({ noNaN: true, noDefaultInfinity: true })), (value) => {
        expect(numberText(value)).to.equal(JSON.stringify(value));
      }),
    );
  });
});
