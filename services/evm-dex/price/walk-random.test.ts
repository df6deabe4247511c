import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { type NaiveMemory, NO_MEMORY, naiveWalk } from "../test/prices/naive-walk.ts";
import { ANCHORS, anyGraph, edgeOf, TOKENS } from "../test/prices/random-graph.ts";
import { pool, pricesIn, walkPrices } from "../test/prices/walk-prices.ts";
import type { PriceEdge } from "./edges.ts";
import { PriceGraph } from "./graph.ts";

describe("Walk over random graphs", () => {
  it("has the prices of a naive search at every block, though it skips most walks", () => {
    let departures = 0;
    fc.assert(
      fc.property(anyGraph, fc.integer({ min: 1, max: 900 }), ({ pairs, rules, blocks }, seconds) => {
        const graph = new PriceGraph(ANCHORS, rules);
        const edges = new Map<string, PriceEdge>();
        let before: NaiveMemory = NO_MEMORY;
        for (const [i, block] of blocks.entries()) {
          for (const change of block) {
            const edge = edgeOf(pairs, change, i * seconds);
            edges.set(edge.pool, edge);
            graph.set(edge);
          }
          graph.update(i * seconds);
          const expected = naiveWalk([...edges.values()], {
            anchors: ANCHORS,
            rules,
            before,
            now: i * seconds,
          });
          expect(pricesIn(graph).prices).to.deep.equal(expected.prices);
          before = expected.memory;
          const used = [...before.used.values()];
          departures += used.filter(({ departure }) => departure !== undefined).length;
        }
      }),
      { numRuns: 500 },
    );
    expect(departures, "prices held while pools were away").to.be.greaterThan(0);
  });

  it("does not depend on the order of the pools", () => {
    fc.assert(
      fc.property(anyGraph, fc.integer(), ({ pairs, rules, blocks }, seed) => {
        const edges = new Map(
          blocks.flat().map((change) => [edgeOf(pairs, change, 0).pool, edgeOf(pairs, change, 0)]),
        );
        const list = [...edges.values()];
        const shuffled = [...list].sort((a, b) => hash(a.pool, seed) - hash(b.pool, seed));
        expect(walkPrices(shuffled, { anchors: ANCHORS, rules })).to.deep.equal(
          walkPrices(list, { anchors: ANCHORS, rules }),
        );
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
      fc.property(anyGraph, shallow, ({ pairs, blocks }, { tokens, share, price }) => {
        const edges = new Map(
          blocks.flat().map((change) => [edgeOf(pairs, change, 0).pool, edgeOf(pairs, change, 0)]),
        );
        const prices = walkPrices(edges.values(), { anchors: ANCHORS });
        // Of tokens without a price any amount is too little.
        const depthOf = (token: string) => (share * 10_000) / (prices.get(token)?.usd ?? 1e-12);
        const added = pool("0xshallow", { tokens, price, depths: [depthOf(tokens[0]), depthOf(tokens[1])] });
        expect(walkPrices([added, ...edges.values()], { anchors: ANCHORS })).to.deep.equal(prices);
      }),
    );
  });

  it("keeps a price within that of the others, whatever less than half of the weight says", () => {
    const voices = fc.array(fc.double({ min: 1.9, max: 2.1, noNaN: true }), { minLength: 2, maxLength: 6 });
    fc.assert(
      fc.property(voices, fc.double({ min: 1e-6, max: 1e6, noNaN: true }), (honest, lie) => {
        const at = (name: string, usd: number, depthUsd: number) =>
          pool(name, { tokens: ["u", "t"], price: 1 / usd, depths: [depthUsd, depthUsd / usd] });
        const pools = honest.map((usd, i) => at(`h${i}`, usd, 100_000));
        const liar = at("liar", lie, 100_000 * honest.length * 0.99);
        const usd = walkPrices([...pools, liar], { anchors: ["u"] }).get("t")?.usd as number;
        expect(usd).to.be.within(Math.min(...honest) * (1 - 1e-12), Math.max(...honest) * (1 + 1e-12));
      }),
    );
  });
});

function hash(text: string, seed: number): number {
  return [...text].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0) + seed) % 1_000_003, 7);
}
