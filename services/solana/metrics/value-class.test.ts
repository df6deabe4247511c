import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { leastOfClass, NO_VALUE, VALUE_CLASSES, valueClass } from "./value-class.ts";

const usd = fc.oneof(
  fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
  fc.integer({ min: 2, max: VALUE_CLASSES - 1 }).map(leastOfClass),
);

describe("classes of USD values", () => {
  it("are one for no value, one for dust, and sixteen for every factor of ten", () => {
    expect(valueClass(null)).to.equal(NO_VALUE);
    expect([0, 1e-9, 9.9e-7].map(valueClass)).to.deep.equal([1, 1, 1]);
    expect(valueClass(1e-6)).to.equal(2);
    expect(valueClass(1) - valueClass(0.1)).to.equal(16);
    expect(valueClass(12_345) - valueClass(1_234.5)).to.equal(16);
    expect(valueClass(1e300)).to.equal(VALUE_CLASSES - 1);
  });

  it("rise with the value", () => {
    fc.assert(
      fc.property(usd, usd, (a, b) => {
        if (a <= b) expect(valueClass(a)).to.be.at.most(valueClass(b));
      }),
    );
  });

  it("begin at the least value in them, the one before ends below it", () => {
    for (let number = 2; number < VALUE_CLASSES; number++) {
      const least = leastOfClass(number);
      expect(valueClass(least)).to.equal(number);
      expect(valueClass(least * (1 - 1e-12))).to.equal(number - 1);
    }
  });

  it("hold every value between their least and the next one's", () => {
    fc.assert(
      fc.property(usd, (value) => {
        const found = valueClass(value);
        expect(value).to.be.at.least(leastOfClass(found));
        if (found < VALUE_CLASSES - 1) expect(value).to.be.below(leastOfClass(found + 1));
      }),
    );
  });

  it("span no more than a sixth", () => {
    for (let number = 2; number < VALUE_CLASSES - 1; number++)
      expect(leastOfClass(number + 1) / leastOfClass(number)).to.be.within(1.15, 1.16);
  });
});
