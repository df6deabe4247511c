import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { readFloats, readIntegers, writeIntegers } from "./integers.ts";

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

  it("are read as the floats nearest to them, as Number() makes them, ties to even", () => {
    const size = fc.integer({ min: 1, max: 256 });
    const anyOfSize = size.chain((bits) =>
      fc.bigInt({ min: -(2n ** BigInt(bits)), max: 2n ** BigInt(bits) }),
    );
    // Halfway between two floats, and next to it.
    const tie = fc
      .tuple(fc.bigInt({ min: 2n ** 52n, max: 2n ** 53n - 1n }), fc.integer({ min: 1, max: 203 }), fc.nat(2))
      .map(([float, shift, off]) => (((2n * float + 1n) << BigInt(shift)) >> 1n) + BigInt(off - 1));
    fc.assert(
      fc.property(fc.array(fc.oneof(anyOfSize, tie), { minLength: 1, maxLength: 6 }), (values) => {
        const floats = new Float64Array(values.length);
        readFloats(writeIntegers(values), floats);
        expect([...floats]).to.deep.equal(values.map((value) => Number(value) + 0));
      }),
      { numRuns: 2_000 },
    );
  });

  it("are 0 as floats where they are absent", () => {
    const floats = new Float64Array(3).fill(7);
    readFloats("ff", floats);
    expect([...floats]).to.deep.equal([255, 0, 0]);
  });
});
