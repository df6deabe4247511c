import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { classifyValue, lowerBoundOfClass, NO_VALUE, VALUE_CLASSES } from "./value-class.ts";

const usd = fc.oneof(
  fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
  fc.integer({ min: 2, max: VALUE_CLASSES - 1 }).map(lowerBoundOfClass),
);

describe("classes of USD values", () => {
  it("are one for no value, one for dust, and sixteen for every factor of ten", () => {
    expect(classifyValue(null)).to.equal(NO_VALUE);
    expect([0, 1e-9, 9.9e-7].map(classifyValue)).to.deep.equal([1, 1, 1]);
    expect(classifyValue(1e-6)).to.equal(2);
    expect(classifyValue(1) - classifyValue(0.1)).to.equal(16);
    expect(classifyValue(12_345) - classifyValue(1_234.5)).to.equal(16);
    expect(classifyValue(1e300)).to.equal(VALUE_CLASSES - 1);
  });

  it("rise with the value", () => {
    fc.assert(
      fc.property(usd, usd, (a, b) => {
        if (a <= b) expect(classifyValue(a)).to.be.at.most(classifyValue(b));
      }),
    );
  });

  it("begin at the least value in them, the one before ends below it", () => {
    for (let number = 2; number < VALUE_CLASSES; number++) {
      const least = lowerBoundOfClass(number);
      expect(classifyValue(least)).to.equal(number);
      expect(classifyValue(least * (1 - 1e-12))).to.equal(number - 1);
    }
  });

  it("hold every value between their least and the next one's", () => {
    fc.assert(
      fc.property(usd, (value) => {
        const found = classifyValue(value);
        expect(value).to.be.at.least(lowerBoundOfClass(found));
        if (found < VALUE_CLASSES - 1) expect(value).to.be.below(lowerBoundOfClass(found + 1));
      }),
    );
  });

  it("span no more than a sixth", () => {
    for (let number = 2; number < VALUE_CLASSES - 1; number++)
      expect(lowerBoundOfClass(number + 1) / lowerBoundOfClass(number)).to.be.within(1.15, 1.16);
  });
});
