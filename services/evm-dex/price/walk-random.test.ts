import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { pool, type Walked, type WalkedPrice, walkAll, walkPrices } from "../test/prices/walk-prices.ts";
import type { PriceEdge } from "./edges.ts";
import { usdOver } from "./link.ts";
import { DEFAULT_RULES, type WalkRules } from "./walk.ts";

const MIN_DEPTH = 10_000;
const MAX_HOPS = 4;

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

/** Few pools, none too shallow: paths are long, and wide ones longer than narrow ones. */
const sparse = fc
  .array(
    fc.record({
      pair: fc.tuple(fc.nat(TOKENS.length - 1), fc.nat(TOKENS.length - 2)),
      price: fc.constantFrom(0.5, 1, 1, 2),
      depths: fc.tuple(fc.integer({ min: 20_000, max: 99_999 }), fc.integer({ min: 20_000, max: 99_999 })),
    }),
    { minLength: 8, maxLength: 16 },
  )
  .map((list) =>
    list.map(({ pair: [first, second], price, depths }, i) => {
      const tokens = [TOKENS[first], TOKENS[second < first ? second : second + 1]] as [string, string];
      return pool(`0x${i.toString(16).padStart(2, "0")}`, { tokens, price, depths });
    }),
  );

interface NaivePath {
  readonly token: string;
  readonly usd: number;
  readonly width: number;
  readonly depthUsd: number;
  readonly detours: number;
  readonly hops: number;
  readonly pool: string;
}

/** The paths over one more pool that the rules allow. */
function stepsFrom(
  path: NaivePath,
  { list, rules, own }: { list: readonly PriceEdge[]; rules: WalkRules; own: NaivePath },
): NaivePath[] {
  const detours = path.detours + (own === path ? 0 : 1);
  const sides = list.flatMap(({ pool, token0, token1, price, depth0, depth1 }) => [
    { pool, from: token0, token: token1, depth: depth0, usd: path.usd / price },
    { pool, from: token1, token: token0, depth: depth1, usd: path.usd * price },
  ]);
  return sides
    .filter(({ from, usd }) => from === path.token && usd > 0 && usd < Number.POSITIVE_INFINITY)
    .map(({ pool, token, depth, usd }) => {
      const width = Math.min(depth * own.usd, path.width);
      const depthUsd = Math.min(depth * path.usd, path.depthUsd);
      return { token, usd, width, depthUsd, detours, hops: path.hops + 1, pool };
    })
    .filter(({ hops, width }) => hops <= rules.maxHops && width >= rules.minDepthUsd);
}

/** Looks at every pool from either side and from every path again and again, and takes the best each time. */
function naiveWalk(
  list: readonly PriceEdge[],
  { rules = DEFAULT_RULES, anchors = ANCHORS }: { rules?: WalkRules; anchors?: readonly string[] } = {},
): Map<string, WalkedPrice> {
  const infinite = { width: Number.POSITIVE_INFINITY, depthUsd: Number.POSITIVE_INFINITY };
  const paths = anchors.map(
    (token): NaivePath => ({ token, usd: 1, ...infinite, detours: 0, hops: 0, pool: "" }),
  );
  const ownOf = (token: string) => paths.find((path) => path.token === token) as NaivePath;
  for (;;) {
    const best = paths
      .flatMap((path) => stepsFrom(path, { list, rules, own: ownOf(path.token) }))
      .filter(({ token, hops }) => !paths.some((other) => other.token === token && other.hops <= hops))
      .sort(
        (a, b) => b.width - a.width || a.detours - b.detours || a.hops - b.hops || (a.pool < b.pool ? -1 : 1),
      )[0];
    if (best === undefined) break;
    paths.push(best);
  }
  const priced = [...new Set(paths.map((path) => path.token))].sort();
  return new Map(
    priced.map((token) => {
      const { usd, hops, depthUsd, pool: viaPool } = ownOf(token);
      return [token, { usd, hops, depthUsd, viaPool }];
    }),
  );
}

/** Tokens within so many pools. */
function within(hops: number, { from, pools }: { pools: readonly PriceEdge[]; from: string }): string[] {
  const reached = new Set([from]);
  for (let hop = 0; hop < hops; hop++) {
    const next = pools.filter(({ token0, token1 }) => reached.has(token0) || reached.has(token1));
    for (const { token0, token1 } of next) reached.add(token0).add(token1);
  }
  return [...reached].sort();
}

describe("walkPrices over random graphs", () => {
  it("equals a naive search, whatever the order of the pools", () => {
    fc.assert(
      fc.property(edges, (list) => {
        const inOrder = list.map(({ edge }) => edge);
        const shuffled = [...list].sort((a, b) => a.rank - b.rank).map(({ edge }) => edge);
        const expected = naiveWalk(inOrder);
        for (const order of [inOrder, shuffled]) {
          expect(walkPrices(order, { anchors: ANCHORS })).to.deep.equal(expected);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("equals a naive search where paths run out of pools, and takes detours there", () => {
    let detours = 0;
    fc.assert(
      fc.property(sparse, fc.integer({ min: 2, max: 4 }), (pools, maxHops) => {
        const rules = { minDepthUsd: MIN_DEPTH, maxHops };
        const { prices, links } = walkAll(pools, { anchors: ["u"], rules });
        expect(prices).to.deep.equal(naiveWalk(pools, { rules, anchors: ["u"] }));
        detours += [...links.values()].filter((link) => link.detour.length > 0).length;
      }),
      { numRuns: 300 },
    );
    expect(detours).to.be.greaterThan(20);
  });

  it("loses no token within four deep pools of an anchor", () => {
    fc.assert(
      fc.property(sparse, (list) => {
        const pools = list.map((edge) => ({ ...edge, price: 1 }));
        const reached = within(MAX_HOPS, { pools, from: "u" });
        expect([...walkPrices(pools, { anchors: ["u"] }).keys()]).to.deep.equal(reached);
      }),
      { numRuns: 200 },
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
        expect(prices).to.deep.equal(naiveWalk(pools));
      }),
      { numRuns: 60 },
    );
  });

  it("gives prices that multiply out along their pools, down to an anchor", () => {
    fc.assert(
      fc.property(edges, (list) => {
        const walked: Walked = walkAll(
          list.map(({ edge }) => edge),
          { anchors: ANCHORS },
        );
        for (const [token, price] of walked.prices) {
          const link = walked.links.get(token);
          if (link === undefined) {
            expect(ANCHORS).to.include(token);
            continue;
          }
          if (link.detour.length > 0) continue;
          const from = walked.prices.get(link.parent) as WalkedPrice;
          expect(price.usd).to.equal(usdOver(link.price, { side: link.side, parentUsd: from.usd }));
          expect(price.hops)
            .to.equal(from.hops + 1)
            .and.at.most(MAX_HOPS);
          expect(price.depthUsd).to.equal(Math.min(from.depthUsd, link.depth * from.usd));
          expect(price.depthUsd).to.be.at.least(MIN_DEPTH);
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
