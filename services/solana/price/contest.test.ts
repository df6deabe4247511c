import { expect } from "chai";
import { describe, it } from "mocha";
import type { Contest } from "./contest.ts";
import { withTrade } from "./pool-quote.ts";
import type { PoolVote } from "./pool-vote.ts";
import { decide, type UsedPrice } from "./token-votes.ts";

const mint = "TOKEN";
const HOUR = 3_600;

/** Of each pool's last trade. */
const TRADED = 1_800;

function vote(pool: string, usd: number, weight: number, refusal?: PoolVote["refusal"]): PoolVote {
  const quote = withTrade(undefined, {
    pool,
    parent: "USDC",
    ratio: usd,
    depth: 1,
    parentDepth: 1,
    time: TRADED,
  });
  const width = { widthUsd: weight, depthUsd: weight, parentEarnedUsd: Number.POSITIVE_INFINITY };
  return { quote, usd, weight, hops: 1, refusal, ...width };
}

interface Case {
  readonly name: string;
  readonly votes: readonly PoolVote[];
  readonly now?: number;
  readonly departure?: UsedPrice["departure"];
  readonly isRefused: boolean;
}

const open: Contest = { since: 1_000, pools: ["a"], poolUsd: 110, othersUsd: 100 };
const followed: UsedPrice = { usd: 110, departure: undefined, contest: open, agreedUsd: 110 };

describe("a price that one pool set against the others", () => {
  it("is contested as soon as it is followed, and worth what the others say if refused", () => {
    const votes = [vote("a", 110, 6), vote("b", 100, 4)];
    const departure = { since: 1_000, usd: 110 };
    const used = { usd: 100, departure, contest: undefined, agreedUsd: 100 };
    const before = decide(votes, { mint, used, now: 1_574 });
    expect(before).to.deep.include({ contest: undefined, ended: undefined });
    expect(before.price.refusal).to.equal(undefined);
    const after = decide(votes, { mint, used, now: 1_575 });
    expect(after).to.deep.include({ contest: open, ended: undefined });
    expect(after.price).to.deep.include({ usd: 110, refusal: { mint, since: 1_000, factor: 100 / 110 } });
    // Whoever continues has no departure any more.
    expect(decide(votes, { mint, used: followed, now: 1_600 })).to.deep.include({ contest: open });
  });

  for (const { name, votes, now = 2_000, departure, isRefused } of [
    { name: "the pool comes back", votes: [vote("a", 100.5, 6), vote("b", 100, 4)], isRefused: true },
    { name: "the pool loses its vote", votes: [vote("b", 100, 4)], isRefused: true },
    {
      name: "the others outweigh it for long enough",
      votes: [vote("a", 110, 6), vote("b", 100, 9)],
      ...{ departure: { since: 1_400, usd: 100 }, isRefused: true },
    },
    { name: "the others come to it", votes: [vote("a", 110, 6), vote("b", 109.5, 4)], isRefused: false },
    { name: "both meet near it", votes: [vote("a", 107, 6), vote("b", 107, 4)], isRefused: false },
    { name: "the others rest", votes: [vote("a", 110, 6), vote("b", 100, 0.5)], isRefused: false },
    {
      name: "it has stood for a day",
      ...{ votes: [vote("a", 110, 6), vote("b", 100, 4)], now: 25 * HOUR, isRefused: false },
    },
  ] as Case[])
    it(`is ${isRefused ? "taken back" : "confirmed"} where ${name}`, () => {
      const { contest, ended, price } = decide(votes, { mint, used: { ...followed, departure }, now });
      expect(ended).to.deep.equal({ contest: open, isRefused });
      expect(contest).to.equal(undefined);
      expect(price.refusal).to.equal(undefined);
    });

  it("is contested with the price that it rests on", () => {
    const refusal = { mint: "PARENT", since: 5, factor: 0.5 };
    const votes = [vote("a", 200, 6, refusal), vote("b", 201, 4)];
    expect(decide(votes, { mint, used: undefined, now: 0 }).price.refusal).to.equal(refusal);
    const heavier = [vote("a", 200, 4, refusal), vote("b", 201, 6)];
    expect(decide(heavier, { mint, used: undefined, now: 0 }).price.refusal).to.equal(undefined);
  });
});
