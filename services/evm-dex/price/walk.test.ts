import { expect } from "chai";
import { describe, it } from "mocha";
import { balanced, pool, walkAll, walkPrices } from "../test/prices/walk-prices.ts";
import type { TokenPrice } from "./link.ts";
import { DEFAULT_RULES } from "./walk-rules.ts";

const USD = "usd";
const anchors = [USD];

/** usd – a – b – c – d – e, every token worth 2 of the one before, each pool 1,048,576 USD deep. */
const CHAIN = ["a", "b", "c", "d", "e"].map((token, i) =>
  balanced(`p${i}`, {
    tokens: [i === 0 ? USD : ("abcd"[i - 1] as string), token],
    usd: [2 ** i, 2 ** (i + 1)],
    depthUsd: 2 ** 20,
  }),
);

const usdOf = (prices: ReadonlyMap<string, TokenPrice>) =>
  Object.fromEntries([...prices].map(([token, { usd }]) => [token, usd]));

describe("Walk by hand", () => {
  it("prices over 2 and over 4 pools, and not over 5", () => {
    const prices = walkPrices(CHAIN, { anchors });
    expect(usdOf(prices)).to.deep.equal({ usd: 1, a: 2, b: 4, c: 8, d: 16 });
    expect(prices.get("d")?.hops).to.equal(4);
    expect(prices.get("d")?.link).to.deep.equal({
      ...{ token: "d", parent: "c", pool: "p3", side: 1, price: 0.5, hops: 4 },
      support: { pool: "p3", depthUsd: 2 ** 20, restUsd: 0 },
      departure: undefined,
      agreedUsd: undefined,
    });
    expect(prices.get(USD)).to.deep.equal({ usd: 1, hops: 0, link: undefined });
  });

  it("walks a pool from either side", () => {
    const forward = pool("p", { tokens: [USD, "t"], price: 0.25, depths: [65_536, 16_384] });
    const backward = pool("p", { tokens: ["t", USD], price: 4, depths: [16_384, 65_536] });
    for (const [side, edge] of [forward, backward].entries()) {
      const price = walkPrices([edge], { anchors }).get("t");
      expect(price?.usd).to.equal(4);
      expect(price?.link).to.deep.include({
        side: 1 - side,
        support: { pool: "p", depthUsd: 65_536, restUsd: 0 },
      });
    }
  });

  it("counts depth on the thinner side, to the dollar", () => {
    const isPriced = (depths: [number, number]) =>
      walkPrices([pool("p", { tokens: [USD, "t"], price: 0.5, depths })], { anchors }).has("t");
    expect(isPriced([10_000, 5_000])).to.equal(true);
    expect(isPriced([9_999.99, 1e12])).to.equal(false);
    expect(isPriced([1e12, 4_999.99]), "nothing to buy").to.equal(false);
  });

  it("counts a path as deep as its thinnest pool", () => {
    const narrow = balanced("n", { tokens: [USD, "a"], usd: [1, 2], depthUsd: 16_384 });
    const { links } = walkAll([narrow, ...CHAIN.slice(1, 3)], { anchors });
    expect([...links.values()].map(({ support }) => support.depthUsd)).to.deep.equal([
      16_384, 16_384, 16_384,
    ]);
  });

  it("takes the median of a token's pools by depth, not the price of the widest", () => {
    const at = (name: string, usd: number, depthUsd: number) =>
      balanced(name, { tokens: [USD, "t"], usd: [1, usd], depthUsd });
    const pools = [at("far", 9, 40_960), at("x", 2, 32_768), at("y", 2.01, 32_768)];
    const link = walkPrices(pools, { anchors }).get("t")?.link;
    expect(link).to.deep.include({ pool: "y", price: 1 / 2.01 });
    // What disagrees supports nothing.
    expect(link?.support).to.deep.equal({ pool: "x", depthUsd: 32_768, restUsd: 32_768 });
  });

  it("gives a fresh pool next to no vote, however deep, unless it is the only one", () => {
    const fresh = balanced("fresh", { tokens: [USD, "t"], usd: [1, 9], depthUsd: 1e9, held: 0, aged: 0 });
    const old = balanced("old", { tokens: [USD, "t"], usd: [1, 2], depthUsd: 20_000 });
    expect(walkPrices([fresh, old], { anchors }).get("t")?.usd).to.equal(2);
    expect(walkPrices([fresh], { anchors }).get("t")?.usd).to.be.closeTo(9, 1e-12);
  });

  it("lets all pools over one token vote with no more than what stands behind it", () => {
    // SCAM is worth what one pool of 16,384 USD says; ten pools repeat it.
    const scam = balanced("scam", { tokens: [USD, "scam"], usd: [1, 1e6], depthUsd: 16_384 });
    const repeated = Array.from({ length: 10 }, (_, i) =>
      balanced(`r${i}`, { tokens: ["scam", "t"], usd: [1e6, 50], depthUsd: 16_000 }),
    );
    const honest = ["h1", "h2"].map((name) =>
      balanced(name, { tokens: [USD, "t"], usd: [1, 2], depthUsd: 12_000 }),
    );
    expect(walkPrices([scam, ...repeated, ...honest], { anchors }).get("t")?.usd).to.equal(2);
  });

  it("asks no token of less width for a price", () => {
    const weth = balanced("weth", { tokens: [USD, "weth"], usd: [1, 3_000], depthUsd: 1e6 });
    const scam = balanced("scam", { tokens: [USD, "scam"], usd: [1, 1e6], depthUsd: 20_000 });
    const bridges = Array.from({ length: 500 }, (_, i) =>
      balanced(`b${i}`, { tokens: ["scam", "weth"], usd: [1e6, 1e9], depthUsd: 20_000 }),
    );
    expect(walkPrices([weth, scam, ...bridges], { anchors }).get("weth")?.usd).to.be.closeTo(3_000, 1e-9);
  });

  it("is the same for every order of pools of equal depth", () => {
    const one = balanced("0xbb", { tokens: [USD, "t"], usd: [1, 1], depthUsd: 50_000 });
    const other = balanced("0xaa", { tokens: [USD, "t"], usd: [1, 2], depthUsd: 50_000 });
    expect(walkAll([one, other], { anchors })).to.deep.equal(walkAll([other, one], { anchors }));
    expect(walkPrices([one, other], { anchors }).get("t")?.usd, "the lower of two").to.equal(1);
  });

  it("counts the hops of the shortest vote, so that a wider detour costs no reach", () => {
    const direct = balanced("direct", { tokens: [USD, "c"], usd: [1, 8], depthUsd: 20_000 });
    const { prices } = walkAll([...CHAIN.slice(0, 3), direct], { anchors });
    expect(prices.get("c")).to.deep.include({ usd: 8, hops: 1 });
  });

  it("keeps anchors at 1 USD where nobody can tell which of two has moved", () => {
    const pools = [
      balanced("peg", { tokens: [USD, "dai"], usd: [1, 0.9], depthUsd: 1e9 }),
      balanced("x", { tokens: ["dai", "t"], usd: [1, 2], depthUsd: 1e5 }),
    ];
    const prices = walkPrices(pools, { anchors: [USD, "dai"] });
    expect(usdOf(prices)).to.deep.equal({ usd: 1, dai: 1, t: 2 });
  });

  it("follows an anchor that two others say has lost its peg, and prices by it", () => {
    const pools = [
      balanced("1", { tokens: [USD, "dai"], usd: [0.9, 1], depthUsd: 1e6 }),
      balanced("2", { tokens: [USD, "usdt"], usd: [0.9, 1], depthUsd: 1e6 }),
      balanced("3", { tokens: ["usdt", "dai"], usd: [1, 1.001], depthUsd: 1e6 }),
      balanced("4", { tokens: [USD, "t"], usd: [0.9, 2], depthUsd: 1e5 }),
    ];
    const prices = usdOf(walkPrices(pools, { anchors: [USD, "dai", "usdt"] }));
    expect(prices).to.include({ dai: 1, usdt: 1 });
    expect(prices.usd).to.be.closeTo(0.9, 1e-12);
    expect(prices.t).to.be.closeTo(2, 1e-12);
  });

  it("prices nothing but anchors without pools, or over pools without a price or with an absurd one", () => {
    expect(usdOf(walkPrices([], { anchors }))).to.deep.equal({ usd: 1 });
    for (const price of [0, Number.POSITIVE_INFINITY, 1e-13]) {
      const edge = pool("p", { tokens: [USD, "t"], price, depths: [1e6, 1e6] });
      expect(usdOf(walkPrices([edge], { anchors }))).to.deep.equal({ usd: 1 });
    }
  });

  it("obeys other rules than the default, which are 10,000 USD and 4 pools", () => {
    expect(DEFAULT_RULES).to.deep.equal({ minDepthUsd: 10_000, maxHops: 4 });
    expect(usdOf(walkPrices(CHAIN, { anchors, rules: { minDepthUsd: 2e6, maxHops: 5 } }))).to.deep.equal({
      usd: 1,
    });
    const long = walkPrices(CHAIN, { anchors, rules: { minDepthUsd: 0, maxHops: 5 } });
    expect(long.get("e")).to.include({ usd: 32, hops: 5 });
    const short = walkPrices(CHAIN, { anchors, rules: { minDepthUsd: 0, maxHops: 1 } });
    expect(usdOf(short)).to.deep.equal({ usd: 1, a: 2 });
  });
});
