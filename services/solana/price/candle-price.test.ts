import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { candlePrice, candlePriceIfRefused } from "./candle-price.ts";
import { withTrade } from "./pool-quote.ts";
import type { PoolVote } from "./pool-vote.ts";

function vote(pool: string, usd: number, weight: number, refusal?: PoolVote["refusal"]): PoolVote {
  const quote = withTrade(undefined, { pool, parent: "USDC", ratio: usd, depth: 1, parentDepth: 1, time: 0 });
  const width = { widthUsd: weight, depthUsd: weight, parentEarnedUsd: Number.POSITIVE_INFINITY };
  return { quote, usd, weight, hops: 1, refusal, ...width };
}

const priced = (usd: number, factor?: number) => ({
  usd,
  refusal: factor === undefined ? undefined : { mint: "T", since: 0, factor },
});

describe("the price that candles show of a trade", () => {
  const votes = [vote("a", 100, 6), vote("b", 102, 3)];

  it("is its own near the token's price, and between that and the other pools", () => {
    for (const usd of [99.6, 100, 101, 102.5])
      expect(candlePrice(usd, { pool: "a", price: priced(100), votes })).to.equal(usd);
  });

  it("is never far beyond both, whatever the pool paid", () => {
    expect(candlePrice(300, { pool: "a", price: priced(100), votes })).to.be.closeTo(102 * 1.005, 1e-9);
    expect(candlePrice(1, { pool: "a", price: priced(100), votes })).to.be.closeTo(100 / 1.005, 1e-9);
    // Of a pool that does not vote for the token all others are others.
    expect(candlePrice(300, { pool: "x", price: priced(100), votes })).to.be.closeTo(100 * 1.005, 1e-9);
  });

  it("is its own where no other pool has a tenth of the weight", () => {
    const alone = [vote("a", 100, 10), vote("b", 102, 1)];
    expect(candlePrice(300, { pool: "a", price: priced(100), votes: alone })).to.equal(300);
    expect(candlePrice(300, { pool: "b", price: priced(100), votes: alone })).to.be.closeTo(100.5, 1e-9);
    expect(candlePrice(300, { pool: "a", price: undefined, votes: [] })).to.equal(300);
    expect(candlePrice(3, { pool: "a", price: priced(1), votes: [] })).to.be.closeTo(1.005, 1e-9);
  });

  it("rests on the refused reading of prices where that is asked for", () => {
    const twofold = { mint: "T", since: 0, factor: 0.5 };
    const market = { pool: "a", price: priced(200, 0.5), votes: [vote("a", 200, 6), vote("b", 100, 4)] };
    expect(candlePrice(200, market)).to.equal(200);
    expect(candlePriceIfRefused(200, market)).to.be.closeTo(100.5, 1e-9);
    const over = { pool: "x", price: priced(200, 0.5), votes: [vote("y", 200, 4, twofold)] };
    expect(candlePriceIfRefused(200, over)).to.be.closeTo(100.5, 1e-9);
  });

  it("is within half a percent of the range of the others and the token, and itself where it may be", () => {
    const usd = fc.double({ min: 1e-6, max: 1e9, noNaN: true });
    const anyVote = fc.record({ usd, weight: fc.double({ min: 1, max: 1e6, noNaN: true }) });
    fc.assert(
      fc.property(usd, usd, fc.array(anyVote, { minLength: 2, maxLength: 6 }), (paid, used, made) => {
        const all = made.map((each, i) => vote(`${i}`, each.usd, each.weight));
        const shown = candlePrice(paid, { pool: "0", price: priced(used), votes: all });
        const rest = all.slice(1);
        const weight = rest.reduce((sum, each) => sum + each.weight, 0);
        fc.pre(weight >= 0.11 * (weight + (all[0]?.weight ?? 0)));
        const range = [used, ...rest.map((each) => each.usd)];
        expect(shown).to.be.at.most(Math.max(...range) * 1.0051);
        expect(shown).to.be.at.least(Math.min(...range) / 1.0051);
        expect(candlePrice(shown, { pool: "0", price: priced(used), votes: all })).to.be.closeTo(
          shown,
          shown * 1e-9,
        );
      }),
    );
  });
});
