import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { rpow } from "./rpow.ts";

const scale = 10n ** 27n;

describe("euler: powers in fixed point", () => {
  it("returns known values", () => {
    expect(rpow(0n, { n: 0n, scale })).to.equal(scale);
    expect(rpow(0n, { n: 5n, scale })).to.equal(0n);
    expect(rpow(scale, { n: 31_556_952n, scale })).to.equal(scale);
    expect(rpow(2n * scale, { n: 10n, scale })).to.equal(1024n * scale);
    expect(rpow((3n * scale) / 2n, { n: 3n, scale })).to.equal((27n * scale) / 8n);
    // Rounded to the nearest: 1.5² = 2.25 and 2.5² = 6.25 in no decimals of a scale of 10.
    expect(rpow(15n, { n: 2n, scale: 10n })).to.equal(23n);
    expect(rpow(25n, { n: 2n, scale: 10n })).to.equal(63n);
  });

  it("notices products beyond 256 bits", () => {
    expect(rpow((1n << 128n) - 1n, { n: 1n, scale })).to.equal((1n << 128n) - 1n);
    expect(rpow(1n << 128n, { n: 1n, scale })).to.equal(1n << 128n);
    expect(rpow(1n << 128n, { n: 2n, scale })).to.equal(null);
    expect(rpow(scale * 10n ** 5n, { n: 4n, scale })).to.equal(scale * 10n ** 20n);
    expect(rpow(scale * 10n ** 5n, { n: 8n, scale })).to.equal(null);
    // A product alone: 10^9 × 10^18.
    expect(rpow(scale * 10n ** 9n, { n: 2n, scale })).to.equal(scale * 10n ** 18n);
    expect(rpow(scale * 10n ** 9n, { n: 3n, scale })).to.equal(null);
  });

  it("is the exact power to within its roundings", () => {
    const rate = fc.bigInt({ min: 0n, max: 291_867_278_914_945_094_175n });
    fc.assert(
      fc.property(rate, fc.bigInt({ min: 1n, max: 400n }), (perSecond, n) => {
        const x = scale + perSecond;
        const exact = x ** n / scale ** (n - 1n);
        const power = rpow(x, { n, scale }) as bigint;
        const off = power > exact ? power - exact : exact - power;
        expect(off <= n, `${power} for ${exact}`).to.equal(true);
      }),
    );
  });
});
