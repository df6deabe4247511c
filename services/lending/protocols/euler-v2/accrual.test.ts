import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { accrue, type Books, toAssets, totalAssets, totalBorrows } from "./accrual.ts";

const ONE = 10n ** 27n;
const EMPTY: Books = {
  cash: 0n,
  shares: 0n,
  fees: 0n,
  debt: 0n,
  accumulator: ONE,
  rate: 0n,
  interestFee: 1_000,
};

const amount = fc.bigInt({ min: 0n, max: 10n ** 30n });
const books: fc.Arbitrary<Books> = fc
  .record({
    cash: amount,
    debt: amount.map((assets) => assets << 31n),
    fees: fc.integer({ min: 0, max: 100 }),
    accumulator: fc.bigInt({ min: ONE, max: 10n ** 33n }),
    // Up to 100 % a year.
    rate: fc.bigInt({ min: 0n, max: 22_000_000_000_000_000_000n }),
    interestFee: fc.integer({ min: 0, max: 10_000 }),
  })
  .map(({ fees, ...rest }) => {
    const shares = (totalAssets(rest) * 97n) / 100n;
    return { ...rest, shares, fees: (shares * BigInt(fees)) / 100n };
  });
const seconds = fc.integer({ min: 0, max: 100_000_000 });

describe("euler: accrual of an EVK vault", () => {
  it("returns known values", () => {
    // One second at 1 % a second on 1,000 owed, 10 % of it for fees: 10 units of interest, one of them as shares.
    const vault = { ...EMPTY, cash: 500n, debt: 1_000n << 31n, shares: 1_500n, rate: ONE / 100n };
    const later = accrue(vault, 1);
    expect(later).to.deep.equal({
      ...vault,
      debt: 1_010n << 31n,
      accumulator: (ONE * 101n) / 100n,
      // 1,510 × 1,500 / 1,509
      shares: 1_500n,
      fees: 0n,
    });
    const large = accrue(
      { ...vault, cash: 5n * 10n ** 20n, debt: (10n ** 21n) << 31n, shares: 15n * 10n ** 20n },
      1,
    );
    expect(large.shares).to.equal(1_500_994_035_785_288_270_377n);
    expect(large.fees).to.equal(994_035_785_288_270_377n);
    expect(totalBorrows(large)).to.equal(101n * 10n ** 19n);
    expect(totalAssets(large)).to.equal(151n * 10n ** 19n);
  });

  it("rounds debts up and shares' worth down", () => {
    expect(totalBorrows({ debt: 0n })).to.equal(0n);
    expect(totalBorrows({ debt: 1n })).to.equal(1n);
    expect(totalBorrows({ debt: 1n << 31n })).to.equal(1n);
    expect(totalBorrows({ debt: (1n << 31n) + 1n })).to.equal(2n);
    expect(toAssets(EMPTY, 7n)).to.equal(7n);
    // 10^6 of the virtual deposit on both sides: 10 × 3,000,000 / 2,000,000.
    expect(toAssets({ cash: 2_000_000n, debt: 0n, shares: 1_000_000n }, 10n)).to.equal(15n);
  });

  it("leaves books as they are where their growth cannot be counted", () => {
    const vault = { ...EMPTY, debt: 1n << 60n, shares: 10n ** 9n, rate: ONE };
    expect(accrue(vault, 1_000)).to.deep.equal(vault);
    const most = { ...vault, debt: ((1n << 112n) - 1n) << 31n, rate: ONE / 1000n };
    expect(accrue(most, 60)).to.deep.equal(most);
  });

  it("grows nothing in no time, without a rate or without debts", () => {
    fc.assert(
      fc.property(books, seconds, (vault, elapsed) => {
        expect(accrue(vault, 0)).to.equal(vault);
        expect(accrue({ ...vault, rate: 0n }, elapsed)).to.deep.equal({ ...vault, rate: 0n });
        const { accumulator, ...rest } = accrue({ ...vault, debt: 0n }, elapsed);
        expect(accumulator >= vault.accumulator).to.equal(true);
        expect(rest).to.deep.include({ cash: vault.cash, debt: 0n, shares: vault.shares, fees: vault.fees });
      }),
    );
  });

  it("never lowers what a share is worth, and gives fees their part of the interest", () => {
    fc.assert(
      fc.property(books, seconds, (vault, elapsed) => {
        const later = accrue(vault, elapsed);
        expect(later.debt >= vault.debt && later.shares >= vault.shares).to.equal(true);
        expect(later.shares - vault.shares).to.equal(later.fees - vault.fees);
        if (vault.shares === 0n) return;
        const before = toAssets(vault, vault.shares);
        expect(toAssets(later, vault.shares) >= before).to.equal(true);
        // The new shares at the end are worth the fee, but for their rounding and the virtual deposit.
        const interest = totalAssets(later) - totalAssets(vault);
        const fee = (interest * BigInt(vault.interestFee)) / 10_000n;
        const minted = ((later.shares - vault.shares) * totalAssets(later)) / (later.shares || 1n);
        const share = totalAssets(later) / (later.shares || 1n) + 2n;
        expect(minted <= fee + 1n && fee - minted <= share + 1n).to.equal(true);
      }),
    );
  });

  it("owes the same in two steps as in one, to a part in 10^18", () => {
    fc.assert(
      fc.property(books, seconds, seconds, (vault, first, second) => {
        const once = accrue(vault, first + second);
        const twice = accrue(accrue(vault, first), second);
        const off = once.debt > twice.debt ? once.debt - twice.debt : twice.debt - once.debt;
        // What the first step rounds off grows in the second.
        expect(off <= once.debt / 10n ** 18n + 100n).to.equal(true);
      }),
    );
  });
});
