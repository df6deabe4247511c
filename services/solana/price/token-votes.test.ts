import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { withTrade } from "./pool-quote.ts";
import { decide, type PoolVote } from "./token-votes.ts";

function vote(
  pool: string,
  usd: number,
  weight: number,
  more: Partial<PoolVote> & { parent?: string } = {},
): PoolVote {
  const { parent = "USDC", ...rest } = more;
  const quote = withTrade(undefined, { pool, parent, ratio: usd, depth: 1, parentDepth: 1, time: 0 });
  const depth = { widthUsd: weight, depthUsd: weight };
  return { quote, usd, weight, ...depth, hops: 1, parentEarnedUsd: Number.POSITIVE_INFINITY, ...rest };
}

describe("votes for a token's price", () => {
  it("give the weighted median, and as support the pools that agree with it", () => {
    const votes = [vote("a", 100, 5), vote("b", 104, 3), vote("c", 300, 4), vote("d", 99, 1, { hops: 3 })];
    const { price, source } = decide(votes, { used: undefined, now: 0 });
    expect(source.pool).to.equal("b");
    expect(price).to.deep.equal({
      ...{ usd: 104, widthUsd: 5, hops: 1, earnedUsd: 9, pool: "a", depthUsd: 5, restUsd: 4 },
    });
  });

  it("follow one heavy pool that leaves the others after a minute for each 1 %", () => {
    const votes = [vote("a", 110, 6), vote("b", 100, 4)];
    const first = decide(votes, { used: { usd: 100, departure: undefined }, now: 1_000 });
    expect(first.price.usd).to.equal(100);
    expect(first.departure).to.deep.equal({ since: 1_000, usd: 110 });
    const used = { usd: 100, departure: first.departure };
    // 60 s × ln 1.1 / ln 1.01 = 574.7 s
    expect(decide(votes, { used, now: 1_574 }).price.usd).to.equal(100);
    expect(decide(votes, { used, now: 1_575 })).to.deep.include({ departure: undefined });
    expect(decide(votes, { used, now: 1_575 }).price.usd).to.equal(110);
  });

  it("over one parent weigh no more together than what prices that one", () => {
    const split = ["b", "c", "d"].map((pool) => vote(pool, 300, 4, { parent: "S", parentEarnedUsd: 4 }));
    const { price } = decide([vote("a", 100, 5), ...split], { used: undefined, now: 0 });
    expect(price.usd).to.equal(100);
  });

  it("of less than half of the weight never move the price out of the others' range", () => {
    const some = fc.array(
      fc.tuple(fc.double({ min: 1, max: 1e3, noNaN: true }), fc.integer({ min: 1, max: 1e6 })),
      {
        minLength: 1,
        maxLength: 8,
      },
    );
    fc.assert(
      fc.property(
        some,
        some,
        fc.option(fc.double({ min: 1, max: 1e3, noNaN: true })),
        (honest, others, usedUsd) => {
          const honestWeight = honest.reduce((sum, [, weight]) => sum + weight, 0);
          const otherWeight = others.reduce((sum, [, weight]) => sum + weight, 0);
          const scale = (0.99 * honestWeight) / otherWeight;
          const votes = [
            ...honest.map(([usd, weight], i) => vote(`honest ${i}`, usd, weight)),
            ...others.map(([usd, weight], i) => vote(`other ${i}`, usd * 1e3, weight * scale)),
          ];
          const { price } = decide(votes, { used: undefined, now: 0 });
          const range = honest.map(([usd]) => usd);
          expect(price.usd).to.be.within(Math.min(...range), Math.max(...range));
          expect(price.depthUsd + price.restUsd).to.be.at.most(honestWeight + otherWeight * scale + 1);
          const used = usedUsd === null ? undefined : { usd: usedUsd, departure: undefined };
          const again = decide([...votes].reverse(), { used, now: 0 });
          expect(votes.map(({ usd }) => usd)).to.include(again.price.usd);
        },
      ),
    );
  });
});
