import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { withTrade } from "./pool-quote.ts";
import type { PoolVote } from "./pool-vote.ts";
import { decide } from "./token-votes.ts";

const TOKEN = "TOKEN";
const NONE = { departure: undefined, contest: undefined, agreedUsd: 100 };

/** Of each pool's last trade. */
const TRADED = 1_500;

function vote(
  pool: string,
  usd: number,
  weight: number,
  more: Partial<PoolVote> & { parent?: string } = {},
): PoolVote {
  const { parent = "USDC", ...rest } = more;
  const quote = withTrade(undefined, { pool, parent, ratio: usd, depth: 1, parentDepth: 1, time: TRADED });
  const depth = { widthUsd: weight, depthUsd: weight };
  return {
    quote,
    usd,
    weight,
    ...depth,
    hops: 1,
    parentEarnedUsd: Number.POSITIVE_INFINITY,
    refusal: undefined,
    ...rest,
  };
}

/** The same without a trade for more than five minutes. */
function resting(pool: string, usd: number, weight: number): PoolVote {
  const made = vote(pool, usd, weight);
  return { ...made, quote: { ...made.quote, time: TRADED - 301 } };
}

describe("votes for a token's price", () => {
  it("give the weighted median, and as support the pools that agree with it", () => {
    const votes = [vote("a", 100, 5), vote("b", 104, 3), vote("c", 300, 4), vote("d", 99, 1, { hops: 3 })];
    const { price, source } = decide(votes, { mint: TOKEN, used: undefined, now: 0 });
    expect(source.pool).to.equal("b");
    expect(price).to.deep.equal({
      ...{ usd: 104, widthUsd: 5, hops: 1, earnedUsd: 9, pool: "a", depthUsd: 5, restUsd: 4 },
      refusal: undefined,
    });
  });

  it("follow one heavy pool that leaves the others after a minute for each 1 %", () => {
    const votes = [vote("a", 110, 6), vote("b", 100, 4)];
    const first = decide(votes, { mint: TOKEN, used: { ...NONE, usd: 100 }, now: 1_000 });
    expect(first.price.usd).to.equal(100);
    expect(first.departure).to.deep.equal({ since: 1_000, usd: 110 });
    const used = { ...NONE, usd: 100, departure: first.departure };
    // 60 s × ln 1.1 / ln 1.01 = 574.7 s
    expect(decide(votes, { mint: TOKEN, used, now: 1_574 }).price.usd).to.equal(100);
    expect(decide(votes, { mint: TOKEN, used, now: 1_575 })).to.deep.include({ departure: undefined });
    expect(decide(votes, { mint: TOKEN, used, now: 1_575 }).price.usd).to.equal(110);
  });

  it("wait for a pool that rests: it holds no price", () => {
    const votes = [vote("a", 110, 6), vote("b", 100, 4)];
    const used = { ...NONE, usd: 100, departure: { since: 1_000, usd: 110 } };
    const rested = TRADED + 301;
    expect(decide(votes, { mint: TOKEN, used, now: rested })).to.deep.include({ departure: used.departure });
    expect(decide(votes, { mint: TOKEN, used, now: rested }).price.usd).to.equal(100);
    expect(decide(votes, { mint: TOKEN, used, now: rested - 1 }).price.usd).to.equal(110);
  });

  it("tell pools that left in small steps by where all agreed, and several as one", () => {
    const now = TRADED;
    // Each step was followed, and is the price in use: only the agreed price tells who has moved.
    const used = { ...NONE, usd: 101.9, agreedUsd: 100 };
    const crept = decide([vote("a", 102, 6), vote("b", 100.1, 4)], { mint: TOKEN, used, now });
    expect(crept).to.deep.include({ departure: { since: now, usd: 102 }, agreedUsd: 100.1 });
    expect(crept.price.usd).to.equal(100.1);
    const two = [vote("a", 108, 3), vote("c", 112, 3), vote("b", 100, 4)];
    const together = decide(two, { mint: TOKEN, used: { ...NONE, usd: 100 }, now });
    expect(together.price.usd).to.equal(100);
    const held = { ...NONE, usd: 100, departure: { since: now - 600, usd: 108 } };
    expect(decide(two, { mint: TOKEN, used: held, now }).contest).to.deep.equal({
      ...{ since: now - 600, pools: ["a", "c"], poolUsd: 108, othersUsd: 100 },
    });
    // Others that rest, or that have moved themselves, were not left.
    const later = decide(two.slice(0, 2).concat(resting("b", 100, 4)), { mint: TOKEN, used, now });
    expect(later.price.usd).to.equal(108);
    const apart = [vote("a", 100.5, 6), vote("b", 97, 4)];
    expect(decide(apart, { mint: TOKEN, used, now }).price.usd).to.equal(100.5);
  });

  it("have agreed as far as nine tenths of what trades have gone, unless most of it rests", () => {
    const used = { ...NONE, usd: 100 };
    const agreed = (votes: PoolVote[]) => decide(votes, { mint: TOKEN, used, now: TRADED }).agreedUsd;
    expect(agreed([vote("a", 104, 6), vote("b", 100.4, 4)])).to.equal(100.4);
    expect(agreed([vote("a", 104, 19), vote("b", 99, 1)])).to.equal(104);
    expect(agreed([vote("a", 99, 6), vote("b", 103, 4)])).to.equal(100);
    expect(agreed([vote("a", 103, 4), resting("b", 100, 6)])).to.equal(100);
  });

  it("over one parent weigh no more together than what prices that one", () => {
    const split = ["b", "c", "d"].map((pool) => vote(pool, 300, 4, { parent: "S", parentEarnedUsd: 4 }));
    const { price } = decide([vote("a", 100, 5), ...split], { mint: TOKEN, used: undefined, now: 0 });
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
          const { price } = decide(votes, { mint: TOKEN, used: undefined, now: 0 });
          const range = honest.map(([usd]) => usd);
          expect(price.usd).to.be.within(Math.min(...range), Math.max(...range));
          expect(price.depthUsd + price.restUsd).to.be.at.most(honestWeight + otherWeight * scale + 1);
          const used = usedUsd === null ? undefined : { ...NONE, usd: usedUsd };
          const again = decide([...votes].reverse(), { mint: TOKEN, used, now: 0 });
          expect(votes.map(({ usd }) => usd)).to.include(again.price.usd);
        },
      ),
    );
  });
});
