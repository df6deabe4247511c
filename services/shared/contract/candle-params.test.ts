import { expect } from "chai";
import { describe, it } from "mocha";
import { candleStart, checkCandles, countCandles, INTERVAL_SECONDS, INTERVALS } from "./candle-params.ts";

/** 2026-08-05T12:21:19Z, a Wednesday. */
const WEDNESDAY = 1_785_932_479;

describe("candleStart", () => {
  it("cuts at whole multiples of the interval, weeks on Mondays", () => {
    const starts = {
      "1m": "2026-08-05T12:21:00.000Z",
      "15m": "2026-08-05T12:15:00.000Z",
      "4h": "2026-08-05T12:00:00.000Z",
      "1d": "2026-08-05T00:00:00.000Z",
      "1w": "2026-08-03T00:00:00.000Z",
    } as const;
    for (const [interval, start] of Object.entries(starts)) {
      const found = candleStart(WEDNESDAY, interval as keyof typeof starts);
      expect(new Date(found * 1000).toISOString(), interval).to.equal(start);
    }
  });

  it("leaves a start where it is", () => {
    for (const interval of INTERVALS) {
      const start = candleStart(WEDNESDAY, interval);
      expect(candleStart(start, interval)).to.equal(start);
      expect(candleStart(start - 1, interval)).to.equal(start - INTERVAL_SECONDS[interval]);
    }
  });
});

describe("checkCandles", () => {
  it("counts every candle that begins in the range", () => {
    expect(countCandles({ after_time: 59, before_time: 61, interval: "1m" })).to.equal(1);
    expect(countCandles({ after_time: 60, before_time: 120, interval: "1m" })).to.equal(1);
    expect(countCandles({ after_time: 60, before_time: 121, interval: "1m" })).to.equal(2);
    expect(countCandles({ after_time: 61, before_time: 120, interval: "1m" })).to.equal(0);
    expect(countCandles({ after_time: 0, before_time: 604_800, interval: "1w" })).to.equal(1);
  });

  it("accepts 1000 candles and rejects 1001", () => {
    const range = { after_time: 0, interval: "1m" } as const;
    expect(() => checkCandles({ ...range, before_time: 60_000 })).to.not.throw();
    expect(() => checkCandles({ ...range, before_time: 60_001 })).to.throw(
      'Cannot parse interval: "1m" makes 1001 candles of this time range, which is above 1000.',
    );
  });
});
