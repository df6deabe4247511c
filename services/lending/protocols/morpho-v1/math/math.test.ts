import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { type AccruedMarket, accrue, type StoredMarket } from "./accrual.ts";
import { adaptRate, rateNow } from "./adaptive-curve.ts";
import { wExp } from "./exponential.ts";
import { compound, mulDivDown, mulDivUp, WAD, wDiv, wMul } from "./fixed.ts";
import { toAssetsDown, toAssetsUp, toSharesDown } from "./shares.ts";

const YEAR = 31_536_000n;
/** 4 % a year at the target: where every market begins. */
const INITIAL = (4n * WAD) / 100n / YEAR;
const [LOWEST, HIGHEST] = [WAD / 1_000n / YEAR, (2n * WAD) / YEAR];

const amount = fc.bigInt({ min: 0n, max: 10n ** 33n });
const pot = fc.record({ assets: amount, shares: fc.bigInt({ min: 0n, max: 10n ** 36n }) });
const rateAtTarget = fc.bigInt({ min: LOWEST, max: HIGHEST });
const seconds = fc.bigInt({ min: 0n, max: 3n * YEAR });
/** Never more borrowed than supplied. */
const assets = fc
  .record({ supplyAssets: amount, utilization: fc.bigInt({ min: 0n, max: WAD }) })
  .map(({ supplyAssets, utilization }) => ({ supplyAssets, borrowAssets: wMul(supplyAssets, utilization) }));

/** bigints print whole; a closeTo of chai takes them for no numbers. */
function expectClose(actual: bigint, expected: number, relative: number): void {
  expect(Number(actual)).to.be.closeTo(expected, Math.abs(expected) * relative);
}

describe("Morpho: fixed-point numbers", () => {
  it("round as the contracts do: towards zero, or up", () => {
    expect([mulDivDown(7n, 3n, 4n), mulDivUp(7n, 3n, 4n), mulDivUp(8n, 3n, 4n)]).to.deep.equal([5n, 6n, 6n]);
    expect([wMul(-1n, WAD / 2n), wDiv(-1n, 3n * WAD), wMul(3n, WAD / 2n)]).to.deep.equal([0n, 0n, 1n]);
  });

  it("compound to three terms: 10 % is 10.5166… %", () => {
    expect(compound(WAD / 10n, 1n)).to.equal(105_166_666_666_666_666n);
    expect(compound(0n, YEAR)).to.equal(0n);
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: WAD / 20n / 86_400n }), (rate) => {
        const x = (Number(rate) * 86_400) / 1e18;
        const interest = compound(rate, 86_400n);
        expect(interest >= rate * 86_400n).to.equal(true);
        expect(Number(interest) / 1e18).to.be.closeTo(Math.expm1(x), x ** 4 + 1e-17);
      }),
    );
  });
});

describe("Morpho: shares", () => {
  it("begin at a millionth of an asset each", () => {
    const empty = { assets: 0n, shares: 0n };
    expect(toSharesDown(5n, empty)).to.equal(5_000_000n);
    expect(toAssetsDown(5_999_999n, { assets: 5n, shares: 5_000_000n })).to.equal(5n);
    expect(toAssetsUp(5_000_001n, { assets: 5n, shares: 5_000_000n })).to.equal(6n);
  });

  it("never return more than was put in, and both roundings differ by at most 1", () => {
    fc.assert(
      fc.property(amount, pot, (put, totals) => {
        const shares = toSharesDown(put, totals);
        expect(toAssetsDown(shares, totals) <= put).to.equal(true);
        const difference = toAssetsUp(shares, totals) - toAssetsDown(shares, totals);
        expect(difference === 0n || difference === 1n).to.equal(true);
      }),
    );
  });
});

describe("Morpho: e^x", () => {
  it("is exact at 0 and ln 2, nothing far below, and bounded far above", () => {
    const ln2 = 693_147_180_559_945_309n;
    expect([wExp(0n), wExp(ln2), wExp(-ln2)]).to.deep.equal([WAD, 2n * WAD, WAD / 2n]);
    expect(wExp(-41_446_531_673_892_822_313n)).to.equal(0n);
    expect(wExp(10n ** 30n)).to.equal(wExp(93_859_467_695_000_404_319n));
  });

  it("is within a hundredth of e^x and never falls as x grows", () => {
    const x = fc.bigInt({ min: -20n * WAD, max: 50n * WAD });
    fc.assert(
      fc.property(x, x, (a, b) => {
        expectClose(wExp(a), Math.exp(Number(a) / 1e18) * 1e18, 0.01);
        const [low, high] = a < b ? [a, b] : [b, a];
        // Where two pieces of the approximation meet, the next begins up to a hundredth lower.
        expect(wExp(low) <= (wExp(high) * 102n) / 100n).to.equal(true);
      }),
    );
  });
});

describe("Morpho: the adaptive curve", () => {
  const at = (percent: bigint) => ({ supplyAssets: 100n * WAD, borrowAssets: percent * WAD });

  it("is rateAtTarget at 90 %, four times it when full, a quarter when empty", () => {
    expect(rateNow(INITIAL, at(90n))).to.equal(INITIAL);
    expect(rateNow(INITIAL, at(100n))).to.equal(4n * INITIAL);
    expect(rateNow(INITIAL, at(0n))).to.equal(INITIAL / 4n);
    expect(rateNow(INITIAL, { supplyAssets: 0n, borrowAssets: 0n })).to.equal(INITIAL / 4n);
  });

  it("starts at 4 % a year in a market without a stored rate", () => {
    expect(adaptRate(0n, at(90n), YEAR)).to.deep.equal({ averageRate: INITIAL, rateAtTarget: INITIAL });
  });

  it("doubles in five days when full, halves in five when empty, and stays at the target", () => {
    const fiveDays = 5n * 86_400n;
    expectClose(adaptRate(INITIAL, at(100n), fiveDays).rateAtTarget, Number(2n * INITIAL), 0.02);
    expectClose(adaptRate(INITIAL, at(0n), fiveDays).rateAtTarget, Number(INITIAL / 2n), 0.02);
    expect(adaptRate(INITIAL, at(90n), YEAR)).to.deep.equal({ averageRate: INITIAL, rateAtTarget: INITIAL });
  });

  it("stays within its bounds, adapts towards where the utilization pulls, and not at all in no time", () => {
    fc.assert(
      fc.property(rateAtTarget, assets, seconds, (start, market, elapsed) => {
        const { averageRate, rateAtTarget: end } = adaptRate(start, market, elapsed);
        expect(end >= LOWEST && end <= HIGHEST).to.equal(true);
        expect(averageRate >= LOWEST / 4n && averageRate <= 4n * HIGHEST).to.equal(true);
        const isAbove = market.borrowAssets * 10n > market.supplyAssets * 9n;
        expect(isAbove ? end >= start : end <= start, `${start} → ${end}`).to.equal(true);
        expect(adaptRate(start, market, 0n).rateAtTarget).to.equal(start);
      }),
    );
  });
});

describe("Morpho: accrual", () => {
  const market: fc.Arbitrary<StoredMarket> = fc
    .record({
      assets,
      supplyShares: fc.bigInt({ min: 10n ** 6n, max: 10n ** 36n }),
      borrowShares: fc.bigInt({ min: 0n, max: 10n ** 36n }),
      fee: fc.bigInt({ min: 0n, max: WAD / 4n }),
      rateAtTarget: fc.option(rateAtTarget),
      borrowRate: fc.option(fc.bigInt({ min: 0n, max: HIGHEST })),
    })
    .map(({ assets: { supplyAssets, borrowAssets }, ...rest }) => ({
      ...rest,
      supplyAssets,
      borrowAssets,
      lastUpdate: 1_700_000_000,
    }));
  const later = fc.integer({ min: 0, max: Number(YEAR) });

  it("of 1,000,000 lent at 90 % for a year at 4 %, a tenth of it as fee", () => {
    const stored = {
      supplyAssets: 1_000_000_000_000n,
      supplyShares: 10n ** 18n,
      borrowAssets: 900_000_000_000n,
      borrowShares: 9n * 10n ** 17n,
      lastUpdate: 0,
      fee: WAD / 10n,
      rateAtTarget: INITIAL,
      borrowRate: null,
    };
    const { supply, borrow } = accrue(stored, Number(YEAR));
    // 900,000 × (0.04 + 0.04²/2 + 0.04³/6), less what rounding the rate per second down leaves.
    expectClose(borrow.assets - stored.borrowAssets, 36_729_600_000, 1e-8);
    expect(supply.assets - stored.supplyAssets).to.equal(borrow.assets - stored.borrowAssets);
    expectClose(toAssetsDown(supply.shares - stored.supplyShares, supply), 3_672_960_000, 1e-8);
  });

  it("adds the same interest on both sides, and lets no supplier's share lose worth", () => {
    fc.assert(
      fc.property(market, later, (stored, elapsed) => {
        const { supply, borrow } = accrue(stored, stored.lastUpdate + elapsed);
        expect(supply.assets - stored.supplyAssets).to.equal(borrow.assets - stored.borrowAssets);
        expect(borrow.assets >= stored.borrowAssets).to.equal(true);
        expect(borrow.shares).to.equal(stored.borrowShares);
        const before = toAssetsDown(stored.supplyShares, {
          assets: stored.supplyAssets,
          shares: stored.supplyShares,
        });
        expect(toAssetsDown(stored.supplyShares, supply) >= before).to.equal(true);
      }),
    );
  });

  it("changes nothing in no time, nor where no rate is known", () => {
    const asStored = ({ supply, borrow }: AccruedMarket) => [
      ...[supply.assets, supply.shares],
      ...[borrow.assets, borrow.shares],
    ];
    fc.assert(
      fc.property(market, later, (stored, elapsed) => {
        const { supplyAssets, supplyShares, borrowAssets, borrowShares } = stored;
        const same = [supplyAssets, supplyShares, borrowAssets, borrowShares];
        expect(asStored(accrue(stored, stored.lastUpdate))).to.deep.equal(same);
        const unknown = { ...stored, rateAtTarget: null, borrowRate: null };
        const accrued = accrue(unknown, stored.lastUpdate + elapsed);
        expect(asStored(accrued)).to.deep.equal(same);
        expect(accrued.borrowRate).to.equal(null);
      }),
    );
  });
});
