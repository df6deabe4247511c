import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { encodeAmountCap } from "../../../../deploy/devnet/euler/amount-cap.ts";
import { decodeAmountCap } from "./evk-view.ts";

describe("euler: caps", () => {
  it("reads known values", () => {
    expect(decodeAmountCap(0)).to.equal(null);
    expect(decodeAmountCap(1)).to.equal(0n);
    // 1.00 × 10^18, 5.00 × 10^13, 10.23 × 10^63, and one cent of the smallest unit.
    expect(decodeAmountCap((100 << 6) | 18)).to.equal(10n ** 18n);
    expect(decodeAmountCap((500 << 6) | 13)).to.equal(5n * 10n ** 13n);
    expect(decodeAmountCap(0xffff)).to.equal(1023n * 10n ** 61n);
    expect(decodeAmountCap(1 << 6)).to.equal(0n);
  });

  it("rejects what is no uint16", () => {
    for (const raw of [-1, 0x10000, 1.5, Number.NaN])
      expect(() => decodeAmountCap(raw)).to.throw(RangeError, `${raw}`);
  });

  it("returns what was written, rounded down to three digits", () => {
    expect(decodeAmountCap(encodeAmountCap(undefined))).to.equal(null);
    expect(decodeAmountCap(encodeAmountCap(0n))).to.equal(0n);
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 1023n * 10n ** 61n }), (amount) => {
        const cap = decodeAmountCap(encodeAmountCap(amount)) as bigint;
        expect(cap <= amount && (amount - cap) * 102n <= amount).to.equal(true);
        expect(decodeAmountCap(encodeAmountCap(cap))).to.equal(cap);
      }),
    );
    expect(() => encodeAmountCap(1024n * 10n ** 61n)).to.throw(RangeError, "above");
  });
});
