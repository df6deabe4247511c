import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { readIntegers, writeIntegers } from "./integers.ts";

describe("integers as text", () => {
  it("are hexadecimal, signed, and parted by spaces", () => {
    expect(writeIntegers([0n, -1n, 255n])).to.equal("0 -1 ff");
    expect(readIntegers("0 -1 ff")).to.deep.equal([0n, -1n, 255n]);
  });

  it("come back, whatever their size", () => {
    const any = fc.bigInt({ min: -(2n ** 256n), max: 2n ** 256n });
    fc.assert(
      fc.property(fc.array(any, { minLength: 1 }), (values) => {
        expect(readIntegers(writeIntegers(values))).to.deep.equal(values);
      }),
    );
  });
});
