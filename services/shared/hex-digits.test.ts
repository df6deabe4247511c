import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { hasHexDigits, writeHexDigits } from "./hex-digits.ts";

const text = fc.oneof(
  fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), maxLength: 40 }),
  fc.string({ unit: fc.constantFrom(..."09afAFg/:`@ \u0130\u0161\uff11"), maxLength: 6 }),
  fc.string({ unit: "grapheme", maxLength: 6 }),
);

describe("hexadecimal digits", () => {
  it("are lower-case digits alone", () => {
    fc.assert(
      fc.property(text, fc.nat(3), (value, from) => {
        expect(hasHexDigits(value, from)).to.equal(/^[0-9a-f]*$/.test(value.slice(from)));
      }),
    );
  });

  it("are written as bytes, or told from other characters", () => {
    fc.assert(
      fc.property(text, fc.nat(3), (value, from) => {
        const digits = value.slice(from);
        if (digits.length % 2 === 1) return;
        const into = new Uint8Array(50).fill(7);
        const isHex = writeHexDigits(value, from, into, 2);
        expect(isHex).to.equal(hasHexDigits(value, from));
        if (isHex)
          expect(Buffer.from(into.subarray(2, 2 + digits.length / 2)).toString("hex")).to.equal(digits);
        expect(into.subarray(0, 2)).to.deep.equal(new Uint8Array(2).fill(7));
        expect(into.subarray(2 + digits.length / 2)).to.deep.equal(
          new Uint8Array(48 - digits.length / 2).fill(7),
        );
      }),
    );
  });
});
