import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { type PricePoint, trimPoints, trustedPrice } from "./median.ts";

const WINDOW = 300;
const NOW = 1_000_000;

/** Points given as [seconds before now, price]. */
function pointsAt(...list: readonly (readonly [number, number])[]): PricePoint[] {
  return list.map(([seconds, price]) => ({ time: NOW - seconds, price }));
}

/** The lower weighted median by holding up one price for every second of the window. */
function medianBySeconds(points: readonly PricePoint[], now: number): number | undefined {
  const held: number[] = [];
  for (let second = now - WINDOW; second < now; second++) {
    const holding = points.filter(({ time }) => time <= second).at(-1);
    if (holding !== undefined) held.push(holding.price);
  }
  held.sort((a, b) => a - b);
  return held[Math.ceil(held.length / 2) - 1];
}

describe("trustedPrice", () => {
  it("is the spot price while that is within 10 % of the median", () => {
    expect(trustedPrice(pointsAt([500, 100], [10, 109.9]), NOW)).to.equal(109.9);
    expect(trustedPrice(pointsAt([500, 100], [10, 90.1]), NOW)).to.equal(90.1);
  });

  it("is the median where the spot price is further away", () => {
    expect(trustedPrice(pointsAt([500, 100], [10, 110.1]), NOW)).to.equal(100);
    expect(trustedPrice(pointsAt([500, 100], [10, 89.9]), NOW)).to.equal(100);
  });

  it("ignores a price pushed away for less than half the window, and takes one that held for more", () => {
    for (const pushed of [10, 1000]) {
      expect(trustedPrice(pointsAt([9_999, 100], [149, pushed]), NOW), `${pushed}`).to.equal(100);
      expect(trustedPrice(pointsAt([9_999, 100], [151, pushed]), NOW), `${pushed}`).to.equal(pushed);
    }
  });

  it("takes the lower of two prices that held for half the window each", () => {
    expect(trustedPrice(pointsAt([9_999, 100], [150, 1000]), NOW)).to.equal(100);
    expect(trustedPrice(pointsAt([9_999, 100], [150, 10]), NOW)).to.equal(10);
  });

  it("returns to the spot price at once when a spike is over", () => {
    expect(trustedPrice(pointsAt([9_999, 100], [140, 500], [0, 101]), NOW)).to.equal(101);
  });

  it("takes the first price of a new pool, and a second one only after it held longer", () => {
    expect(trustedPrice(pointsAt([0, 42]), NOW)).to.equal(42);
    expect(trustedPrice(pointsAt([7, 42]), NOW)).to.equal(42);
    expect(trustedPrice(pointsAt([7, 42], [0, 84]), NOW)).to.equal(42);
    expect(trustedPrice(pointsAt([7, 42], [3, 84]), NOW)).to.equal(42);
    expect(trustedPrice(pointsAt([7, 42], [4, 84]), NOW)).to.equal(84);
  });

  it("counts the price the window was entered with, and none that ended before it", () => {
    expect(trustedPrice(pointsAt([900, 7], [600, 100], [100, 200]), NOW)).to.equal(100);
    // All the old prices ended before the window: only the one that holds since then counts.
    expect(trustedPrice(pointsAt([900, 7], [800, 9], [300, 200]), NOW)).to.equal(200);
  });

  it("gives no weight to a price that another replaced in the same second", () => {
    expect(trustedPrice(pointsAt([200, 100], [100, 900], [100, 105]), NOW)).to.equal(105);
    expect(trustedPrice(pointsAt([50, 900], [50, 100], [1, 101]), NOW)).to.equal(101);
    // Nothing held for a second yet.
    expect(trustedPrice(pointsAt([0, 1], [0, 5]), NOW)).to.equal(5);
  });

  it("refuses a pool without a price", () => {
    expect(() => trustedPrice([], NOW)).to.throw(RangeError);
  });

  it("equals a count of seconds", () => {
    const point = fc.record({
      seconds: fc.nat(700),
      price: fc.constantFrom(50, 91, 100, 105, 109, 112, 400),
    });
    fc.assert(
      fc.property(fc.array(point, { minLength: 1, maxLength: 12 }), (list) => {
        const points = list
          .sort((a, b) => b.seconds - a.seconds)
          .map(({ seconds, price }) => ({ time: NOW - seconds, price }));
        const spot = (points.at(-1) as PricePoint).price;
        const median = medianBySeconds(points, NOW);
        const expected = median === undefined || Math.abs(spot / median - 1) <= 0.1 ? spot : median;
        expect(trustedPrice(points, NOW)).to.equal(expected);
      }),
      { numRuns: 200 },
    );
  });
});

describe("trimPoints", () => {
  it("keeps the last price before the window, since it holds into it", () => {
    const points = pointsAt([900, 1], [400, 2], [301, 3], [200, 4], [0, 5]);
    trimPoints(points, NOW);
    expect(points).to.deep.equal(pointsAt([301, 3], [200, 4], [0, 5]));
  });

  it("drops a price that was replaced in the window's first second", () => {
    const points = pointsAt([900, 1], [300, 2], [1, 3]);
    trimPoints(points, NOW);
    expect(points).to.deep.equal(pointsAt([300, 2], [1, 3]));
  });

  it("never drops the only price", () => {
    const points = pointsAt([9_999, 1]);
    trimPoints(points, NOW);
    expect(points).to.deep.equal(pointsAt([9_999, 1]));
    const none: PricePoint[] = [];
    trimPoints(none, NOW);
    expect(none).to.deep.equal([]);
  });

  it("changes no trusted price, now or later", () => {
    const point = fc.record({ seconds: fc.nat(900), price: fc.constantFrom(50, 91, 100, 109, 400) });
    fc.assert(
      fc.property(fc.array(point, { minLength: 1, maxLength: 12 }), fc.nat(400), (list, later) => {
        const all = list
          .sort((a, b) => b.seconds - a.seconds)
          .map(({ seconds, price }) => ({ time: NOW - seconds, price }));
        const trimmed = [...all];
        trimPoints(trimmed, NOW);
        expect(trustedPrice(trimmed, NOW + later)).to.equal(trustedPrice(all, NOW + later));
      }),
    );
  });
});
