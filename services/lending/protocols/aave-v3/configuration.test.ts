import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { readConfiguration } from "./configuration.ts";

describe("aave-v3: a reserve's configuration", () => {
  it("reads a real word", () => {
    // WETH's on the devnet: LTV 80 %, threshold 83 %, bonus 105 %, factor 15 %, borrow cap 1,500, protocol fee 10 %.
    const word =
      (1_000n << 152n) |
      (1_500n << 80n) |
      (1_500n << 64n) |
      (5n << 56n) |
      (18n << 48n) |
      (10_500n << 32n) |
      (8_300n << 16n) |
      8_000n;
    expect(readConfiguration(word)).to.deep.equal({
      ltv: 8_000,
      liquidationThreshold: 8_300,
      decimals: 18,
      isActive: true,
      isFrozen: false,
      isBorrowingEnabled: true,
      isPaused: false,
      reserveFactor: 1_500n,
      borrowCap: 1_500n,
      supplyCap: 0n,
      isVirtuallyAccounted: false,
    });
  });

  it("keeps fields apart: other bits change none", () => {
    const known: readonly (readonly [number, number])[] = [
      ...([
        [0, 32],
        [48, 11],
        [60, 1],
        [64, 88],
        [252, 1],
      ] as const),
    ];
    const unknown = Array.from({ length: 256 }, (_, bit) => bit).filter(
      (bit) => !known.some(([start, bits]) => bit >= start && bit < start + bits),
    );
    const word = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
    fc.assert(
      fc.property(word, fc.constantFrom(...unknown), (bits, other) => {
        expect(readConfiguration(bits ^ (1n << BigInt(other)))).to.deep.equal(readConfiguration(bits));
      }),
    );
  });
});
