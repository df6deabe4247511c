import { expect } from "chai";
import { describe, it } from "mocha";
import { pool, type WalkedPrice, walkAll, walkPrices } from "../test/prices/walk-prices.ts";
import type { PriceEdge } from "./edges.ts";
import { DEFAULT_RULES } from "./walk.ts";

const USD = "usd";
const MIN_DEPTH = 10_000;
const MAX_HOPS = 4;

/** usd – a – b – c – d – e, every token worth 2 of the one before, each pool 1,000,000 USD deep. */
const CHAIN = ["a", "b", "c", "d", "e"].map((token, i) =>
  pool(`p${i}`, {
    tokens: [i === 0 ? USD : ("abcd"[i - 1] as string), token],
    // token1 per token0: half of one.
    price: 0.5,
    depths: [1e6 / 2 ** i, 1e6 / 2 ** (i + 1)],
  }),
);

const usdOf = (prices: ReadonlyMap<string, WalkedPrice>) =>
  Object.fromEntries([...prices].map(([token, { usd }]) => [token, usd]));

describe("walkPrices by hand", () => {
  it("prices over 2 and over 4 pools, and not over 5", () => {
    const prices = walkPrices(CHAIN, { anchors: [USD] });
    expect(usdOf(prices)).to.deep.equal({ usd: 1, a: 2, b: 4, c: 8, d: 16 });
    expect(prices.get("b")).to.deep.equal({ usd: 4, hops: 2, depthUsd: 1e6, viaPool: "p1" });
    expect(prices.get("d")).to.deep.equal({ usd: 16, hops: 4, depthUsd: 1e6, viaPool: "p3" });
    expect(prices.get(USD)).to.deep.equal({
      usd: 1,
      hops: 0,
      depthUsd: Number.POSITIVE_INFINITY,
      viaPool: "",
    });
  });

  it("walks a pool from either side", () => {
    const forward = pool("p", { tokens: [USD, "t"], price: 0.25, depths: [50_000, 12_500] });
    const backward = pool("p", { tokens: ["t", USD], price: 4, depths: [12_500, 50_000] });
    for (const edge of [forward, backward]) {
      const prices = walkPrices([edge], { anchors: [USD] });
      expect(prices.get("t")).to.deep.equal({ usd: 4, hops: 1, depthUsd: 50_000, viaPool: "p" });
    }
  });

  it("counts depth on the priced side, to the dollar", () => {
    const depthAt = (depths: [number, number]) =>
      walkPrices([pool("p", { tokens: [USD, "t"], price: 1, depths })], { anchors: [USD] }).get("t")
        ?.depthUsd;
    expect(depthAt([10_000, 0])).to.equal(10_000);
    expect(depthAt([9_999.99, 1e12])).to.equal(undefined);
    // The second pool's priced side is 5,000 a at 2 USD each.
    const second = (depth0: number) =>
      walkPrices(
        [CHAIN[0] as PriceEdge, pool("q", { tokens: ["a", "t"], price: 1, depths: [depth0, 1e9] })],
        {
          anchors: [USD],
        },
      ).get("t");
    expect(second(5_000)).to.deep.equal({ usd: 2, hops: 2, depthUsd: 10_000, viaPool: "q" });
    expect(second(4_999)).to.equal(undefined);
  });

  it("takes the widest path, not the shortest", () => {
    const direct = pool("direct", { tokens: [USD, "b"], price: 1, depths: [20_000, 1e9] });
    const wide = CHAIN.slice(0, 2);
    expect(walkPrices([direct, ...wide], { anchors: [USD] }).get("b")).to.deep.equal({
      usd: 4,
      hops: 2,
      depthUsd: 1e6,
      viaPool: "p1",
    });
    // A path is as wide as its narrowest pool.
    const narrow = [
      pool("n", { tokens: [USD, "a"], price: 0.5, depths: [15_000, 1] }),
      CHAIN[1] as PriceEdge,
    ];
    expect(walkPrices([direct, ...narrow], { anchors: [USD] }).get("b")).to.deep.equal({
      usd: 1,
      hops: 1,
      depthUsd: 20_000,
      viaPool: "direct",
    });
  });

  it("decides equal depths by fewer hops, then by pool address", () => {
    const deep = { depths: [50_000, 50_000] as const };
    const one = pool("0xbb", { tokens: [USD, "t"], price: 1, ...deep });
    const other = pool("0xaa", { tokens: [USD, "t"], price: 0.5, ...deep });
    for (const edges of [
      [one, other],
      [other, one],
    ]) {
      expect(walkPrices(edges, { anchors: [USD] }).get("t")?.viaPool).to.equal("0xaa");
    }
    const toA = pool("0x01", { tokens: [USD, "a"], price: 1, ...deep });
    const aToT = pool("0x02", { tokens: ["a", "t"], price: 1, ...deep });
    for (const edges of [
      [toA, aToT, one],
      [one, aToT, toA],
    ]) {
      expect(walkPrices(edges, { anchors: [USD] }).get("t")).to.include({ hops: 1, viaPool: "0xbb" });
    }
  });

  it("keeps anchors at 1 USD whatever their own pools' prices", () => {
    const pools = [
      pool("peg", { tokens: [USD, "dai"], price: 0.9, depths: [1e9, 1e9] }),
      pool("x", { tokens: ["dai", "t"], price: 0.5, depths: [1e5, 1e5] }),
    ];
    const prices = walkPrices(pools, { anchors: [USD, "dai"] });
    expect(usdOf(prices)).to.deep.equal({ usd: 1, dai: 1, t: 2 });
    expect(prices.get("t")).to.include({ hops: 1, depthUsd: 1e5 });
    expect(prices.get("dai")).to.include({ hops: 0, viaPool: "" });
  });

  it("prices nothing but anchors without pools, or over pools without a price", () => {
    expect(usdOf(walkPrices([], { anchors: [USD] }))).to.deep.equal({ usd: 1 });
    for (const price of [0, Number.POSITIVE_INFINITY]) {
      const edge = pool("p", { tokens: [USD, "t"], price, depths: [1e6, 1e6] });
      expect(usdOf(walkPrices([edge], { anchors: [USD] }))).to.deep.equal({ usd: 1 });
    }
  });

  it("obeys other rules than the default, which are 10,000 USD and 4 pools", () => {
    expect(DEFAULT_RULES).to.deep.equal({ minDepthUsd: MIN_DEPTH, maxHops: MAX_HOPS });
    const rules = { minDepthUsd: 2e6, maxHops: 5 };
    expect(usdOf(walkPrices(CHAIN, { anchors: [USD], rules }))).to.deep.equal({ usd: 1 });
    const long = walkPrices(CHAIN, { anchors: [USD], rules: { minDepthUsd: 0, maxHops: 5 } });
    expect(long.get("e")).to.include({ usd: 32, hops: 5 });
    expect(usdOf(walkPrices(CHAIN, { anchors: [USD], rules: { minDepthUsd: 0, maxHops: 1 } }))).to.deep.equal(
      { usd: 1, a: 2 },
    );
  });
});

/** A token in reach by four pools only over one that is reached more widely, by four. */
describe("walkPrices where the widest path has no pool to spare", () => {
  const deep = { depths: [1e6, 1e6] as const };
  const way = ["x", "y", "z", "b"].map((token, i) =>
    pool(`wide${i}`, { tokens: [i === 0 ? USD : ("xyz"[i - 1] as string), token], price: 1, ...deep }),
  );
  const narrow = pool("narrow", { tokens: [USD, "b"], price: 0.5, depths: [20_000, 10_000] });
  const beyond = pool("beyond", { tokens: ["b", "c"], price: 0.25, depths: [12_000, 3_000] });

  it("extends the narrower path, and leaves the token its own price", () => {
    const { prices, links } = walkAll([...way, narrow, beyond], { anchors: [USD] });
    expect(prices.get("b")).to.deep.equal({ usd: 1, hops: 4, depthUsd: 1e6, viaPool: "wide3" });
    // Worth 2 on the narrow path, of which c has four.
    expect(prices.get("c")).to.deep.equal({ usd: 8, hops: 2, depthUsd: 20_000, viaPool: "beyond" });
    expect(links.get("c")).to.deep.equal({
      token: "c",
      parent: "b",
      pool: "beyond",
      side: 1,
      price: 0.25,
      depth: 12_000,
      detour: [{ parent: USD, pool: "narrow", side: 1, price: 0.5, depth: 20_000 }],
      isAnchored: true,
    });
    expect(links.get("b")).to.deep.include({ parent: "z", pool: "wide3", detour: [], isAnchored: false });
  });

  it("counts depth at the token's own price, on the narrower path too", () => {
    // 5,000 b are 10,000 USD on the narrow path, but 5,000 USD by what b is worth.
    const shallow = { ...beyond, depth0: 9_999 };
    expect(walkPrices([...way, narrow, shallow], { anchors: [USD] }).has("c")).to.equal(false);
    expect(walkPrices([...way, narrow, { ...beyond, depth0: 10_000 }], { anchors: [USD] }).has("c")).to.equal(
      true,
    );
  });

  it("takes the narrower path only there: elsewhere tokens derive from one another's own prices", () => {
    const near = pool("near", { tokens: ["z", "n"], price: 1, depths: [15_000, 15_000] });
    const toZ = pool("toZ", { tokens: [USD, "z"], price: 0.5, depths: [500_000, 250_000] });
    const { prices, links } = walkAll([...way, near, toZ], { anchors: [USD] });
    // z is worth 1 over three pools; that it has a shorter path at 2 is no reason to go by it.
    expect(prices.get("n")).to.deep.equal({ usd: 1, hops: 4, depthUsd: 15_000, viaPool: "near" });
    expect(links.get("n")?.detour).to.deep.equal([]);
  });

  it("prices the tokens beyond it, as far as pools remain", () => {
    const chain = ["c", "d", "e", "f"].map((token, i) =>
      pool(`on${i}`, { tokens: ["bcde"[i] as string, token], price: 1, ...deep }),
    );
    const { prices, links } = walkAll([...way, narrow, ...chain], { anchors: [USD] });
    expect([...prices.keys()]).to.deep.equal(["b", "c", "d", "e", USD, "x", "y", "z"]);
    expect(prices.get("e")).to.include({ hops: 4, usd: 2, depthUsd: 20_000 });
    // c has no wider path than the one over b's narrow pool; it is d's parent with its own price.
    expect([..."cde"].map((token) => links.get(token)?.detour.length)).to.deep.equal([1, 0, 0]);
  });

  it("extends several tokens on other paths than their own", () => {
    // c too has a wider path of four pools: d goes over neither's own.
    const toC = pool("toC", { tokens: ["z", "c"], price: 1, ...deep });
    const behind = pool("behind", { tokens: ["c", "d"], price: 1, ...deep });
    const { prices, links } = walkAll(
      [...way, narrow, { ...beyond, price: 1, depth0: 30_000 }, toC, behind],
      {
        anchors: [USD],
      },
    );
    expect(prices.get("c")).to.include({ hops: 4, usd: 1, viaPool: "toC" });
    expect(prices.get("d")).to.include({ hops: 3, usd: 2, viaPool: "behind" });
    expect(links.get("d")?.detour.map((hop) => hop.pool)).to.deep.equal(["beyond", "narrow"]);
  });
});
