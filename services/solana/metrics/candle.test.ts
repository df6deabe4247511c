import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { type Candle, type CandleTrade, joinCandles, withTrade } from "./candle.ts";

const anyTrade: fc.Arbitrary<CandleTrade> = fc.record({
  priceUsd: fc.double({ min: 1e-9, max: 1e6, noNaN: true }),
  valueUsd: fc.double({ min: 0, max: 1e9, noNaN: true }),
  amount: fc.integer({ min: 1, max: 1_000_000 }),
});

function candleOf(trades: readonly CandleTrade[]): Candle | undefined {
  return trades.reduce<Candle | undefined>(withTrade, undefined);
}

describe("candles", () => {
  it("are what the trades say", () => {
    const trades = [
      { priceUsd: 2, valueUsd: 20, amount: 10 },
      { priceUsd: 5, valueUsd: 5, amount: 1 },
      { priceUsd: 1, valueUsd: 3, amount: 3 },
    ];
    expect(candleOf(trades)).to.deep.equal({
      open: 2,
      high: 5,
      low: 1,
      close: 1,
      volumeUsd: 28,
      volumeToken: 14,
      trades: 3,
    });
    expect(joinCandles([])).to.equal(undefined);
  });

  it("of a long time equal those of its parts joined, wherever it is cut", () => {
    fc.assert(
      fc.property(fc.array(fc.array(anyTrade, { maxLength: 6 }), { maxLength: 6 }), (parts) => {
        const joined = joinCandles(parts.flatMap((part) => candleOf(part) ?? []));
        expect(joined).to.deep.equal(candleOf(parts.flat()));
      }),
    );
  });

  it("hold their prices between low and high", () => {
    fc.assert(
      fc.property(fc.array(anyTrade, { minLength: 1 }), (trades) => {
        const { open, high, low, close } = candleOf(trades) as Candle;
        expect(Math.min(open, close)).to.be.at.least(low);
        expect(Math.max(open, close)).to.be.at.most(high);
      }),
    );
  });
});
