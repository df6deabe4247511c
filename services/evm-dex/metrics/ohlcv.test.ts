import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import {
  candleStart,
  INTERVAL_SECONDS,
  INTERVALS,
  MAX_CANDLES,
} from "../../shared/contract/candle-params.ts";
import { candleWindow } from "../endpoints/candle-columns.ts";
import { maxCandlesOf, spansOf } from "../endpoints/candle-params.ts";
import { type PriceBucket, PriceSteps, poolCandles } from "./ohlcv.ts";

/** A whole hour. */
const T = 1_700_002_800;
const bucket = (minute: number, price: number, more: Partial<PriceBucket> = {}): PriceBucket => {
  return { start: T + minute * 60, price, swapCount: 1, volumeUsd: 10, ...more };
};
const base = { interval: "5m", base: 0, before: undefined, usdAt: () => 2 } as const;

describe("candles of a pool", () => {
  it("open where the last one closed, and have the extremes of opening and buckets", () => {
    const buckets = [bucket(0, 10), bucket(2, 14), bucket(4, 12), bucket(11, 11)];
    const [first, second, ...others] = poolCandles({ ...base, before: 13, buckets });
    expect(others).to.deep.equal([]);
    expect(first).to.deep.equal({
      ...{ start: T, swapCount: 3, volumeUsd: 30 },
      ...{ open: { pair: 13, usd: 26 }, high: { pair: 14, usd: 28 } },
      ...{ low: { pair: 10, usd: 20 }, close: { pair: 12, usd: 24 } },
    });
    expect(second).to.deep.include({
      start: T + 600,
      open: { pair: 12, usd: 24 },
      high: { pair: 12, usd: 24 },
    });
    expect(second).to.deep.include({ low: { pair: 11, usd: 22 }, close: { pair: 11, usd: 22 } });
  });

  it("begin at the pool's own first price", () => {
    const [first] = poolCandles({ ...base, buckets: [bucket(1, 10), bucket(2, 9)] });
    expect(first?.open.pair).to.equal(10);
    const [again] = poolCandles({ ...base, before: 0, buckets: [bucket(1, 10)] });
    expect(again?.open.pair, "a pool that had no price").to.equal(10);
  });

  it("are in USD by the other token's price then, and without one where it had none", () => {
    const usdAt = (time: number) => (time < T ? undefined : time < T + 120 ? 3 : 4);
    const [first, second] = poolCandles({
      ...{ ...base, before: 10, usdAt },
      buckets: [bucket(0, 10), bucket(2, 10), bucket(6, 10)],
    });
    expect([first?.open.usd, first?.high.usd, first?.low.usd, first?.close.usd]).to.deep.equal([
      null,
      null,
      null,
      40,
    ]);
    expect([second?.open.usd, second?.close.usd]).to.deep.equal([40, 40]);
    expect(second?.volumeUsd).to.equal(10);
  });

  it("have no sum where one part is unknown", () => {
    const [candle] = poolCandles({
      ...base,
      buckets: [bucket(0, 1), bucket(1, 1, { volumeUsd: null, swapCount: null })],
    });
    expect([candle?.volumeUsd, candle?.swapCount]).to.deep.equal([null, null]);
  });

  const buckets = fc
    .uniqueArray(
      fc.record({ minute: fc.nat(3_000), price: fc.double({ min: 1e-9, max: 1e9, noNaN: true }) }),
      {
        selector: ({ minute }) => minute,
        maxLength: 40,
      },
    )
    .map((found) =>
      found.sort((a, b) => a.minute - b.minute).map(({ minute, price }) => bucket(minute, price)),
    );

  it("hold their own extremes, lose no swap, and are chained, whatever happened", () => {
    fc.assert(
      fc.property(buckets, fc.constantFrom(...INTERVALS), fc.constantFrom(0, 1), (found, interval, side) => {
        const candles = poolCandles({ ...base, buckets: found, interval, base: side as 0 | 1 });
        let swaps = 0;
        for (const [i, { open, high, low, close, start, swapCount }] of candles.entries()) {
          expect(start).to.equal(candleStart(start, interval));
          for (const key of ["pair", "usd"] as const) {
            const [lowest, highest] = [low[key] as number, high[key] as number];
            expect(lowest).to.be.at.most(Math.min(open[key] as number, close[key] as number));
            expect(highest).to.be.at.least(Math.max(open[key] as number, close[key] as number));
          }
          if (i > 0) expect(open).to.deep.equal(candles[i - 1]?.close);
          swaps += swapCount ?? 0;
        }
        expect(swaps).to.equal(found.length);
        const other = poolCandles({ ...base, buckets: found, interval, base: side === 0 ? 1 : 0 });
        for (const [i, { high }] of candles.entries())
          expect(1 / (other[i]?.low.pair as number)).to.be.closeTo(high.pair, high.pair * 1e-12);
      }),
    );
  });
});

describe("PriceSteps", () => {
  it("has the price of the last point up to a time", () => {
    const points = fc
      .uniqueArray(fc.nat(100), { maxLength: 20 })
      .map((starts) => starts.sort((a, b) => a - b));
    fc.assert(
      fc.property(
        points,
        fc.integer({ min: -5, max: 110 }),
        fc.option(fc.constant(7), { nil: undefined }),
        (starts, time, before) => {
          const steps = new PriceSteps(
            starts.map((start) => ({ start, price: start + 1_000 })),
            before,
          );
          const last = starts.filter((start) => start <= time).at(-1);
          expect(steps.at(time)).to.equal(last === undefined ? before : last + 1_000);
        },
      ),
    );
  });
});

describe("candles of a request", () => {
  it("are made of buckets that fit into them, at most 20,000", () => {
    for (const interval of INTERVALS) {
      const seconds = INTERVAL_SECONDS[interval];
      const spans = spansOf(interval);
      expect(spans, interval).not.to.be.empty;
      for (const span of spans) expect(seconds % span, interval).to.equal(0);
      expect((maxCandlesOf(interval) * seconds) / (spans[0] as number)).to.be.at.most(20_000);
    }
  });

  it("are as many as the documents say", () => {
    const most = Object.fromEntries(INTERVALS.map((interval) => [interval, maxCandlesOf(interval)]));
    expect(most).to.include({ "1m": MAX_CANDLES, "15m": MAX_CANDLES, "30m": 666, "1h": 333, "2h": 166 });
    expect(most).to.include({ "4h": MAX_CANDLES, "12h": MAX_CANDLES, "1d": 833, "3d": 277, "1w": 119 });
    const text = candleWindow.interval.meta()?.description;
    expect(text).to.include(
      "1000 of up to 15m, 666 of 30m, 333 of 1h, 166 of 2h, 1000 of 4h to 12h, 833 of 1d, 277 of 3d, 119 of 1w",
    );
  });
});
