import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { decodeBase58, encodeBase58, isSolanaAddress } from "./base58.ts";

describe("base58", () => {
  it("reads known texts", () => {
    expect(Buffer.from(decodeBase58("2NEpo7TZRRrLZSi2U") ?? []).toString()).to.equal("Hello World!");
    expect([...(decodeBase58("11") ?? [])]).to.deep.equal([0, 0]);
    expect(decodeBase58("")).to.have.length(0);
  });

  it("knows no 0, O, I, l and nothing outside ASCII", () => {
    for (const text of ["0", "O", "I", "l", " ", "é", "\u{1F600}"])
      expect(decodeBase58(text)).to.equal(undefined);
  });

  it("reads the number its digits spell", () => {
    const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
    fc.assert(
      fc.property(fc.array(fc.nat(57), { minLength: 1, maxLength: 400 }), (digits) => {
        const text = digits.map((digit) => alphabet[digit]).join("");
        const hex = Buffer.from(decodeBase58(text) ?? []).toString("hex");
        expect(BigInt(`0x0${hex}`)).to.equal(digits.reduce((sum, digit) => sum * 58n + BigInt(digit), 0n));
      }),
    );
  });

  it("decodes the bytes it encoded", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(decodeBase58(encodeBase58(bytes))).to.deep.equal(bytes);
      }),
    );
  });
});

describe("isSolanaAddress", () => {
  it("takes real addresses of 32, 43 and 44 characters", () => {
    const addresses = [
      "11111111111111111111111111111111",
      "So11111111111111111111111111111111111111112",
      "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
    ];
    for (const address of addresses) expect(isSolanaAddress(address), address).to.equal(true);
  });

  it("refuses texts of 31 or 33 bytes, and of 45 characters", () => {
    for (const text of ["1".repeat(31), "1".repeat(33), "z".repeat(44), "z".repeat(42), "1".repeat(45), ""]) {
      expect(isSolanaAddress(text), text).to.equal(false);
    }
  });

  it("takes the text of any 32 bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) =>
        isSolanaAddress(encodeBase58(bytes)),
      ),
    );
  });
});
