import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { DEFAULT_RULES, type PriceEdge, type TokenPrice, walkPrices } from "./walk.ts";

const USD = "usd";
const MIN_DEPTH = 10_000;
const MAX_HOPS = 4;

/** A pool with so many USD on its token0 side at price 1 for that, and as deep on the other. */
function pool(
  name: string,
  of: { tokens: readonly [string, string]; price: number; depths: readonly [number, number] },
): PriceEdge {
  const [token0, token1] = of.tokens;
  const [depth0, depth1] = of.depths;
  return { pool: name, token0, token1, price: of.price, depth0, depth1 };
}

/** usd – a – b – c – d – e, every token worth 2 of the one before, each pool 1,000,000 USD deep. */
const CHAIN = ["a", "b", "c", "d", "e"].map((token, i) =>
  pool(`p${i}`, {
    tokens: [i === 0 ? USD : ("abcd"[i - 1] as string), token],
    // token1 per token0: half of one.
    price: 0.5,
    depths: [1e6 / 2 ** i, 1e6 / 2 ** (i + 1)],
  }),
);

const usdOf = (prices: ReadonlyMap<string, TokenPrice>) =>
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

  it("holds anchors at 1 USD whatever their own pools say", () => {
    const pools = [
      pool("peg", { tokens: [USD, "dai"], price: 0.9, depths: [1e9, 1e9] }),
      pool("x", { tokens: ["dai", "t"], price: 0.5, depths: [1e5, 1e5] }),
    ];
    const prices = walkPrices(pools, { anchors: [USD, "dai"] });
    expect(usdOf(prices)).to.deep.equal({ usd: 1, dai: 1, t: 2 });
    expect(prices.get("t")).to.include({ hops: 1, depthUsd: 1e5 });
    expect(prices.get("dai")).to.include({ hops: 0, viaPool: "" });
  });

  it("prices nothing but anchors without pools, or over pools whose price is none", () => {
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

const TOKENS = ["u", "v", "a", "b", "c", "d", "e", "f", "g"];
const ANCHORS = ["u", "v"];
/** Whole magnitudes, so that equal depths are common. */
const magnitude = fc.constantFrom(1e-3, 1, 1e3, 1e4, 1e5, 1e6);
const edges = fc
  .array(
    fc.record({
      pair: fc.tuple(fc.nat(TOKENS.length - 1), fc.nat(TOKENS.length - 2)),
      price: fc.oneof(fc.constantFrom(0.5, 1, 2), fc.double({ min: 1e-6, max: 1e6, noNaN: true })),
      depths: fc.tuple(fc.oneof(magnitude, fc.double({ min: 0, max: 1e6, noNaN: true })), magnitude),
      rank: fc.nat(),
    }),
    { maxLength: 24 },
  )
  .map((list) =>
    list.map(({ pair: [first, second], price, depths, rank }, i) => {
      const tokens = [TOKENS[first], TOKENS[second < first ? second : second + 1]] as [string, string];
      return { edge: pool(`0x${i.toString(16).padStart(2, "0")}`, { tokens, price, depths }), rank };
    }),
  );

/** Looks at every pool from either side again and again, and takes the best each time. */
function naiveWalk(list: readonly PriceEdge[]): Map<string, TokenPrice> {
  const prices = new Map<string, TokenPrice>(
    ANCHORS.map((anchor) => [anchor, { usd: 1, hops: 0, depthUsd: Number.POSITIVE_INFINITY, viaPool: "" }]),
  );
  for (;;) {
    const candidates = list.flatMap(({ pool: viaPool, token0, token1, price, depth0, depth1 }) =>
      [
        { from: token0, to: token1, depth: depth0, worth: (usd: number) => usd / price },
        { from: token1, to: token0, depth: depth1, worth: (usd: number) => usd * price },
      ].flatMap(({ from, to, depth, worth }) => {
        const known = prices.get(from);
        if (known === undefined || prices.has(to) || known.hops === MAX_HOPS) return [];
        const depthUsd = Math.min(depth * known.usd, known.depthUsd);
        return depthUsd < MIN_DEPTH
          ? []
          : [{ to, usd: worth(known.usd), hops: known.hops + 1, depthUsd, viaPool }];
      }),
    );
    candidates.sort((a, b) => b.depthUsd - a.depthUsd || a.hops - b.hops || (a.viaPool < b.viaPool ? -1 : 1));
    const [best] = candidates;
    if (best === undefined) return prices;
    const { to, ...price } = best;
    prices.set(to, price);
  }
}

describe("walkPrices over random graphs", () => {
  it("equals a naive search, whatever the order of the pools", () => {
    fc.assert(
      fc.property(edges, (list) => {
        const inOrder = list.map(({ edge }) => edge);
        const shuffled = [...list].sort((a, b) => a.rank - b.rank).map(({ edge }) => edge);
        const expected = naiveWalk(inOrder);
        for (const order of [inOrder, shuffled]) {
          const prices = walkPrices(order, { anchors: ANCHORS });
          expect(new Map([...prices].sort())).to.deep.equal(new Map([...expected].sort()));
        }
      }),
      { numRuns: 300 },
    );
  });

  it("equals a naive search where many deep pools compete for each token", () => {
    const deep = fc.record({
      pair: fc.tuple(fc.nat(TOKENS.length - 1), fc.nat(TOKENS.length - 2)),
      price: fc.constantFrom(0.5, 0.9, 1, 1.1, 2),
      depths: fc.tuple(fc.integer({ min: 10_000, max: 99_999 }), fc.integer({ min: 10_000, max: 99_999 })),
    });
    fc.assert(
      fc.property(fc.array(deep, { minLength: 20, maxLength: 60 }), (list) => {
        const pools = list.map(({ pair: [first, second], price, depths }, i) => {
          const tokens = [TOKENS[first], TOKENS[second < first ? second : second + 1]] as [string, string];
          return pool(`0x${i.toString(16).padStart(2, "0")}`, { tokens, price, depths });
        });
        const prices = walkPrices(pools, { anchors: ANCHORS });
        expect(new Map([...prices].sort())).to.deep.equal(new Map([...naiveWalk(pools)].sort()));
      }),
      { numRuns: 60 },
    );
  });

  it("gives prices that multiply out along their pools, down to an anchor", () => {
    fc.assert(
      fc.property(edges, (list) => {
        const byPool = new Map(list.map(({ edge }) => [edge.pool, edge]));
        const prices = walkPrices(byPool.values(), { anchors: ANCHORS });
        for (const [token, { usd, hops, depthUsd, viaPool }] of prices) {
          if (ANCHORS.includes(token)) continue;
          const edge = byPool.get(viaPool) as PriceEdge;
          const isToken1 = edge.token1 === token;
          const from = prices.get(isToken1 ? edge.token0 : edge.token1) as TokenPrice;
          expect(usd).to.equal(isToken1 ? from.usd / edge.price : from.usd * edge.price);
          expect(hops)
            .to.equal(from.hops + 1)
            .and.at.most(MAX_HOPS);
          expect(depthUsd).to.equal(
            Math.min(from.depthUsd, (isToken1 ? edge.depth0 : edge.depth1) * from.usd),
          );
          expect(depthUsd).to.be.at.least(MIN_DEPTH);
        }
      }),
    );
  });

  it("is not moved by a pool that is too shallow", () => {
    const shallow = fc.record({
      tokens: fc.tuple(fc.constantFrom(...TOKENS), fc.constantFrom(...TOKENS)).filter(([a, b]) => a !== b),
      share: fc.double({ min: 0, max: 0.999, noNaN: true }),
      price: fc.double({ min: 1e-9, max: 1e9, noNaN: true }),
    });
    fc.assert(
      fc.property(edges, shallow, (list, { tokens, share, price }) => {
        const pools = list.map(({ edge }) => edge);
        const prices = walkPrices(pools, { anchors: ANCHORS });
        // Of tokens without a price any amount is too little.
        const depthOf = (token: string) => (share * MIN_DEPTH) / (prices.get(token)?.usd ?? 1e-12);
        const added = pool("0xshallow", { tokens, price, depths: [depthOf(tokens[0]), depthOf(tokens[1])] });
        expect(walkPrices([added, ...pools], { anchors: ANCHORS })).to.deep.equal(prices);
      }),
    );
  });
});
