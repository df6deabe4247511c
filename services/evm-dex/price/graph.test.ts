import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { MarkKeeper } from "../test/prices/mark-keeper.ts";
import { ANCHORS, anyGraph, edgeOf, TOKENS } from "../test/prices/random-graph.ts";
import { balanced, pool, pricesIn } from "../test/prices/walk-prices.ts";
import type { PriceEdge } from "./edges.ts";
import { type LinkChange, PriceGraph } from "./graph.ts";
import { type PriceLink, priceFrom, type TokenLink } from "./link.ts";

/** Returns how many tokens lost their link. */
function applyChanges(links: Map<string, TokenLink>, changes: readonly LinkChange[]): number {
  for (const { token, link } of changes) {
    expect(link, token).to.not.deep.equal(links.get(token));
    if (link === undefined) links.delete(token);
    else links.set(token, link);
  }
  return changes.filter(({ link }) => link === undefined).length;
}

describe("PriceGraph", () => {
  it("returns only the links that changed, and prices follow from them alone, bit for bit", () => {
    let gone = 0;
    fc.assert(
      fc.property(anyGraph, ({ pairs, rules, blocks }) => {
        const graph = new PriceGraph(ANCHORS, rules);
        const links = new Map<string, TokenLink>(ANCHORS.map((anchor) => [anchor, { anchorUsd: 1 }]));
        for (const [i, block] of blocks.entries()) {
          for (const change of block) graph.set(edgeOf(pairs, change, 0));
          graph.update(i * 60);
          gone += applyChanges(links, graph.takeLinks());
          const { prices } = pricesIn(graph);
          for (const token of TOKENS) {
            expect(
              priceFrom(token, (name) => links.get(name)),
              token,
            ).to.deep.equal(prices.get(token));
          }
        }
      }),
      { numRuns: 300 },
    );
    expect(gone, "tokens that lost their price").to.be.greaterThan(50);
  });

  it("continues with stored links as if it had never stopped", () => {
    fc.assert(
      fc.property(anyGraph, fc.nat(19), ({ pairs, rules, blocks }, stop) => {
        let graph = new PriceGraph(ANCHORS, rules);
        const whole = new PriceGraph(ANCHORS, rules);
        const keeper = new MarkKeeper();
        const edges = new Map<string, PriceEdge>();
        for (const [i, block] of blocks.entries()) {
          for (const change of block) {
            const edge = edgeOf(pairs, change, i * 60);
            edges.set(edge.pool, edge);
            graph.set(edge);
            whole.set(edge);
          }
          const marked = keeper.beforeBlock(whole, i * 60);
          graph.update(i * 60);
          whole.update(i * 60);
          expect(pricesIn(graph)).to.deep.equal(pricesIn(whole));
          graph.takeLinks();
          if (i !== stop) continue;
          const links = graph.links();
          graph = new PriceGraph(ANCHORS, rules);
          for (const edge of edges.values()) graph.set(edge);
          graph.resume(links, marked);
          graph.update(i * 60);
          expect(graph.takeLinks(), "nothing new").to.deep.equal([]);
        }
      }),
      { numRuns: 200 },
    );
  });

  it("follows a pool that left the others after it has held, in a block that touches nothing of it", () => {
    const graph = new PriceGraph(["usd"]);
    const at = (name: string, usd: number, depthUsd: number) =>
      graph.set(balanced(name, { tokens: ["usd", "t"], usd: [1, usd], depthUsd }));
    at("deep", 2, 500_000);
    at("other", 2, 100_000);
    graph.update(1_000);
    at("deep", 2.2, 500_000);
    graph.update(1_010);
    expect(graph.usd("t"), "the others").to.equal(2);
    const hold = Math.ceil((60 * Math.log(1.1)) / Math.log(1.01));
    graph.update(1_010 + hold - 1);
    expect(graph.usd("t")).to.equal(2);
    graph.update(1_010 + hold);
    expect(graph.usd("t")).to.be.closeTo(2.2, 1e-12);
  });

  it("holds no price against a pool that a token had before it lost its price", () => {
    const graph = new PriceGraph(["usd"]);
    const at = (name: string, usd: number, depthUsd: number) =>
      graph.set(balanced(name, { tokens: ["usd", "t"], usd: [1, usd], depthUsd }));
    at("deep", 2, 500_000);
    at("other", 2, 100_000);
    graph.update(1_000);
    for (const name of ["deep", "other"]) at(name, 2, 5_000);
    graph.update(1_010);
    expect(graph.usd("t")).to.equal(undefined);
    at("deep", 2.2, 500_000);
    at("other", 2, 100_000);
    graph.update(1_020);
    expect(graph.usd("t")).to.be.closeTo(2.2, 1e-12);
  });

  it("widens what a thin pool limits when that pool grows, and decides no other token again", () => {
    const graph = new PriceGraph(["usd"]);
    const at = (name: string, tokens: [string, string], depthUsd: number) =>
      graph.set(balanced(name, { tokens, usd: [1, 1], depthUsd }));
    const depthOf = (token: string) => (graph.link(token) as PriceLink).support.depthUsd;
    at("thin", ["usd", "a"], 16_384);
    at("deep", ["a", "b"], 1e6);
    at("other", ["usd", "c"], 131_072);
    graph.update(0);
    expect([depthOf("a"), depthOf("b")]).to.deep.equal([16_384, 16_384]);
    at("thin", ["usd", "a"], 32_768);
    graph.update(0);
    expect([depthOf("a"), depthOf("b")]).to.deep.equal([32_768, 32_768]);
    const before = { ...graph.walks };
    at("other", ["usd", "c"], 262_144);
    graph.update(0);
    expect(depthOf("c")).to.equal(262_144);
    expect(graph.walks).to.deep.equal({ whole: before.whole, local: before.local + 1 });
  });

  it("writes one link where a pool that all prices derive from moves", () => {
    const graph = new PriceGraph(["usd"]);
    const main = pool("p", { tokens: ["usd", "weth"], price: 1 / 3_000, depths: [5e7, 17_000] });
    graph.set(main);
    for (let i = 0; i < 1_000; i++) {
      graph.set(pool(`p${i}`, { tokens: ["weth", `t${i}`], price: 50, depths: [10 + i, 500] }));
    }
    graph.update(0);
    expect(graph.takeLinks()).to.have.length(1_001);
    graph.set({ ...main, price: 1 / 3_001 });
    graph.update(0);
    expect(graph.takeLinks().map(({ token, link }) => [token, (link as PriceLink).price])).to.deep.equal([
      ["weth", 1 / 3_001],
    ]);
    expect(graph.usd("t7")).to.equal(1 / (1 / 3_001) / 50);
    expect(graph.takeLinks()).to.deep.equal([]);
  });

  it("finds the pools that come to count where a token's price rises, and drops those that cease to", () => {
    const graph = new PriceGraph(["usd"]);
    const hub = (price: number): PriceEdge =>
      pool("hub", { tokens: ["usd", "h"], price: 1 / price, depths: [1e9, 1e9] });
    for (let i = 0; i < 40; i++) {
      graph.set(pool(`q${i}`, { tokens: ["h", `t${i}`], price: 1, depths: [100 * (i + 1), 1e9] }));
    }
    for (const usd of [1, 10, 11.9, 12.1, 3, 100, 2.4, 50, 49]) {
      graph.set(hub(usd));
      graph.update(0);
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
    graph.update(0);
    expect(graph.tokens()).to.deep.equal(["usd", "dai"]);
    expect(graph.usd("dai")).to.equal(1);
    expect(graph.link("dai")).to.deep.equal({ anchorUsd: 1 });
    expect(graph.link("other")).to.equal(undefined);
    expect(graph.usd("other")).to.equal(undefined);
    expect(graph.price("other")).to.equal(undefined);
  });
});
