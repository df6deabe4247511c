import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { ANCHORS, anyGraph, edgeOf, TOKENS } from "../test/prices/random-graph.ts";
import { pricesIn, walkAll } from "../test/prices/walk-prices.ts";
import type { PriceEdge } from "./edges.ts";
import { type LinkChange, PriceGraph } from "./graph.ts";
import { type PriceLink, priceFrom } from "./link.ts";
import type { WalkRules } from "./walk.ts";

function fresh(edges: ReadonlyMap<string, PriceEdge>, rules: WalkRules) {
  return walkAll(edges.values(), { anchors: ANCHORS, rules });
}

/** Returns how many tokens lost their link. */
function applyChanges(links: Map<string, PriceLink>, changes: readonly LinkChange[]): number {
  for (const { token, link } of changes) {
    expect(link, token).to.not.deep.equal(links.get(token));
    if (link === undefined) links.delete(token);
    else links.set(token, link);
  }
  return changes.filter(({ link }) => link === undefined).length;
}

describe("PriceGraph", () => {
  it("has the prices and links of a walk from nothing after any changes", () => {
    fc.assert(
      fc.property(anyGraph, ({ pairs, rules, blocks }) => {
        const graph = new PriceGraph(ANCHORS, rules);
        const edges = new Map<string, PriceEdge>();
        graph.update();
        for (const block of blocks) {
          for (const change of block) {
            const edge = edgeOf(pairs, change);
            edges.set(edge.pool, edge);
            graph.set(edge);
          }
          graph.update();
          expect(pricesIn(graph)).to.deep.equal(fresh(edges, rules));
        }
      }),
      { numRuns: 400 },
    );
  });

  it("returns only the links that changed, and prices follow from them alone, bit for bit", () => {
    let gone = 0;
    fc.assert(
      fc.property(anyGraph, ({ pairs, rules, blocks }) => {
        const graph = new PriceGraph(ANCHORS, rules);
        const edges = new Map<string, PriceEdge>();
        const links = new Map<string, PriceLink>();
        for (const block of blocks) {
          for (const change of block) {
            const edge = edgeOf(pairs, change);
            edges.set(edge.pool, edge);
            graph.set(edge);
          }
          graph.update();
          gone += applyChanges(links, graph.takeLinks());
          const walked = fresh(edges, rules);
          expect(new Map([...links].sort())).to.deep.equal(walked.links);
          for (const token of TOKENS) {
            const price = priceFrom(token, (name) => (ANCHORS.includes(name) ? "anchor" : links.get(name)));
            const expected = walked.prices.get(token);
            expect(price && { ...price, viaPool: links.get(token)?.pool ?? "" }, token).to.deep.equal(
              expected,
            );
          }
        }
      }),
      { numRuns: 300 },
    );
    expect(gone, "tokens that lost their price").to.be.greaterThan(50);
  });

  it("writes one link where a pool that all prices derive from moves", () => {
    const graph = new PriceGraph(["usd"]);
    const main = { pool: "p", token0: "usd", token1: "weth", price: 1 / 3_000, depth0: 5e7, depth1: 17_000 };
    graph.set(main);
    for (let i = 0; i < 1_000; i++) {
      graph.set({ pool: `p${i}`, token0: "weth", token1: `t${i}`, price: 50, depth0: 10 + i, depth1: 500 });
    }
    graph.update();
    expect(graph.takeLinks()).to.have.length(1_001);
    graph.set({ ...main, price: 1 / 3_001 });
    graph.update();
    expect(graph.takeLinks().map(({ token, link }) => [token, link?.price])).to.deep.equal([
      ["weth", 1 / 3_001],
    ]);
    expect(graph.usd("t7")).to.equal(1 / (1 / 3_001) / 50);
    expect(graph.takeLinks()).to.deep.equal([]);
  });

  it("finds the pools that come to count where a token's price rises, and drops those that cease to", () => {
    const graph = new PriceGraph(["usd"]);
    const hub = (price: number): PriceEdge => ({
      pool: "hub",
      token0: "usd",
      token1: "h",
      price: 1 / price,
      depth0: 1e9,
      depth1: 1e9,
    });
    for (let i = 0; i < 40; i++) {
      graph.set({ pool: `q${i}`, token0: "h", token1: `t${i}`, price: 1, depth0: 100 * (i + 1), depth1: 0 });
    }
    for (const usd of [1, 10, 11.9, 12.1, 3, 100, 2.4, 50, 49]) {
      graph.set(hub(usd));
      graph.update();
      const counted = Array.from({ length: 40 }, (_, i) => i).filter(
        (i) => 100 * (i + 1) * (1 / (1 / usd)) >= 10_000,
      );
      expect(
        graph
          .tokens()
          .filter((token) => token.startsWith("t"))
          .sort(),
        `${usd}`,
      ).to.deep.equal(counted.map((i) => `t${i}`).sort());
    }
  });

  it("prices anchors that no pool holds", () => {
    const graph = new PriceGraph(["usd", "dai"]);
    graph.update();
    expect(graph.tokens()).to.deep.equal(["usd", "dai"]);
    expect(graph.usd("dai")).to.equal(1);
    expect(graph.link("dai")).to.equal("anchor");
    expect(graph.link("other")).to.equal(undefined);
    expect(graph.usd("other")).to.equal(undefined);
    expect(graph.price("other")).to.equal(undefined);
  });
});
