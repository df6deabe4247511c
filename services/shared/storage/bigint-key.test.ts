import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { decodeBigint, encodeBigint } from "./bigint-key.ts";

const LIMIT = 1n << 256n;
/** Sizes spread over all lengths: a plain range would nearly always draw 64 digits. */
const anyBigint = fc
  .tuple(fc.bigInt({ min: -LIMIT, max: LIMIT }), fc.integer({ min: 0, max: 256 }))
  .map(([value, shift]) => value >> BigInt(shift));

describe("bigint key", () => {
  it("returns every number within ±2^256", () => {
    fc.assert(
      fc.property(anyBigint, (value) => {
        expect(decodeBigint(encodeBigint(value))).to.equal(value);
      }),
      { numRuns: 2000 },
    );
  });

  it("orders text as the numbers are ordered", () => {
    const sign = (a: bigint | string, b: bigint | string): number => (a < b ? -1 : a > b ? 1 : 0);
    fc.assert(
      fc.property(anyBigint, anyBigint, (a, b) => {
        expect(sign(encodeBigint(a), encodeBigint(b))).to.equal(sign(a, b));
      }),
      { numRuns: 5000 },
    );
  });

  it("orders neighbours around every power of 16 and around zero", () => {
    const edges: bigint[] = [];
    for (let digits = 64; digits >= 0; digits--)
      for (const step of [1n, 0n, -1n]) edges.push(-(1n << BigInt(4 * digits)) - step);
    edges.push(0n);
    for (let digits = 0; digits <= 64; digits++)
      for (const step of [-1n, 0n, 1n]) edges.push((1n << BigInt(4 * digits)) + step);
    const inRange = [...new Set(edges)].filter((value) => value >= -LIMIT && value <= LIMIT);
    const shuffledByText = [...inRange].sort((a, b) => (encodeBigint(a) < encodeBigint(b) ? -1 : 1));
    expect(shuffledByText).to.deep.equal([...inRange].sort((a, b) => (a < b ? -1 : 1)));
  });

  it("refuses what is outside ±2^256", () => {
    expect(encodeBigint(LIMIT)).to.be.a("string");
    expect(encodeBigint(-LIMIT)).to.be.a("string");
    expect(() => encodeBigint(LIMIT + 1n)).to.throw(RangeError, "above 2^256");
    expect(() => encodeBigint(-LIMIT - 1n)).to.throw(RangeError, "below -2^256");
  });

  it("uses printable ASCII only, without space, quote or dollar sign", () => {
    fc.assert(
      fc.property(anyBigint, (value) => {
        expect(encodeBigint(value)).to.match(/^[np][0-q][0-9a-f]+$/);
      }),
    );
  });
});
