import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { hashApiKey, isSameHash, isWellFormedApiKey, mintApiKey } from "./api-key.ts";

describe("API keys", () => {
  it("have the documented form and are all different", () => {
    const keys = Array.from({ length: 200 }, mintApiKey);
    for (const key of keys) {
      expect(key).to.match(/^ct_[A-Za-z0-9_-]{43}_[0-9a-f]{8}$/);
      expect(isWellFormedApiKey(key)).to.equal(true);
    }
    expect(new Set(keys).size).to.equal(200);
  });

  it("carry the CRC-32 of the text before it, as other programs compute it", () => {
    // Expected value from an independent implementation (Python's zlib.crc32).
    expect(isWellFormedApiKey(`ct_${"A".repeat(43)}_f15c8658`)).to.equal(true);
  });

  it("show every change of one character", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 54 }), fc.constantFrom(..."0aZ_-9"), (position, replacement) => {
        const key = mintApiKey();
        const changed = key.slice(0, position) + replacement + key.slice(position + 1);
        return changed === key || !isWellFormedApiKey(changed);
      }),
    );
  });

  it("are refused with anything before or after them, and so is any other text", () => {
    const key = mintApiKey();
    for (const text of [
      "",
      " ",
      `${key} `,
      ` ${key}`,
      `${key}\n`,
      `${key}, ${key}`,
      key.toUpperCase(),
      key.slice(3),
    ]) {
      expect(isWellFormedApiKey(text), JSON.stringify(text)).to.equal(false);
    }
    fc.assert(fc.property(fc.string(), (text) => !isWellFormedApiKey(text)));
  });

  it("are compared by hash", () => {
    const hash = hashApiKey("abc");
    // FIPS 180-2, appendix B.1.
    expect(hash).to.equal("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    expect(isSameHash(hash, hashApiKey("abc"))).to.equal(true);
    expect(isSameHash(hash, hashApiKey("abd"))).to.equal(false);
    expect(isSameHash(hash, hash.slice(1))).to.equal(false);
  });
});
