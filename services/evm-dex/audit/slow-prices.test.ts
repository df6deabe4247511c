import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { valuePrices } from "../../shared/pricing/value-prices.ts";
import { heldShare } from "../../shared/pricing/vote-share.ts";
import { leastCases, randomRuns } from "../../shared/testkit/describe.ts";
import type { PriceEdge } from "../price/edges.ts";
import { PriceGraph } from "../price/graph.ts";
import { ANCHORS, anyGraph, edgeOf, TOKENS } from "../test/prices/random-graph.ts";
import { anySteps, edgesInSteps } from "../test/prices/random-steps.ts";
import { isClose } from "./compare-rows.ts";
import { boundedUsd, type PriceBefore, type SlowPrice, slowPrices } from "./slow-prices.ts";
import { heldShareAt } from "./trusted-price.ts";

/** What the graph says of a token, in the columns of a stored link. */
function columnsOf(graph: PriceGraph, token: string): SlowPrice | undefined {
  const price = graph.price(token);
  if (price === undefined) return undefined;
  const { hops, link, usd } = price;
  return {
    ...{ usd, hops, parent: link?.parent ?? "", pool: link?.pool ?? "", side: link?.side ?? 0 },
    ...{ price: link?.price ?? 0, deepestPool: link?.support.pool ?? "" },
    ...{ depthUsd: link?.support.depthUsd ?? 0, restUsd: link?.support.restUsd ?? 0 },
    departedAt: link?.departure?.since ?? null,
    departedUsd: link?.departure?.usd ?? null,
    agreedUsd: link?.agreedUsd ?? null,
  };
}

/** All columns; floats but for rounding. The graph does not name an anchor without pools, which is worth 1. */
function expectEqual(found: SlowPrice | undefined, known: SlowPrice | undefined, at: string): void {
  if (known === undefined) expect(found?.hops ?? 0, at).to.equal(0);
  for (const [name, value] of Object.entries(known ?? {})) {
    const actual = found?.[name as keyof SlowPrice];
    // Hundreds of thousands: chai is asked to report a difference alone.
    if (!isClose(actual, value)) expect(actual, `${name} of ${at}`).to.equal(value);
  }
}

/** From the first block at or after full five minutes on, what was in use before is where all agree. */
function markedAt(
  before: Map<string, PriceBefore>,
  { last, now }: { last: number; now: number },
): Map<string, PriceBefore> {
  if (Math.floor(now / 300) === Math.floor(last / 300)) return before;
  return new Map(
    [...before].map(([token, price]) => [token, { ...price, agreedUsd: null, markedUsd: price.usd }]),
  );
}

const NO_PRICE = { usd: null, departedAt: null, departedUsd: null, agreedUsd: null };

/** What the next block has from this one. */
function afterBlock(
  before: ReadonlyMap<string, PriceBefore>,
  slow: ReadonlyMap<string, SlowPrice>,
): Map<string, PriceBefore> {
  return new Map(
    [...new Set([...before.keys(), ...slow.keys()])].map((token) => {
      const { markedUsd = null } = before.get(token) ?? {};
      return [token, { ...(slow.get(token) ?? NO_PRICE), markedUsd }];
    }),
  );
}

describe("slow prices", () => {
  for (const anchors of [ANCHORS, [...ANCHORS, "a", "b"]]) {
    it(`are those of the index with ${anchors.length} stablecoins, block by block`, () => {
      const seen = { departures: 0, prices: 0 };
      fc.assert(
        fc.property(anyGraph, fc.integer({ min: 1, max: 900 }), ({ blocks, pairs }, seconds) => {
          const graph = new PriceGraph(anchors);
          const edges = new Map<string, PriceEdge>();
          let before = new Map<string, PriceBefore>();
          for (const [i, block] of blocks.entries()) {
            const now = i * seconds;
            for (const edge of block.map((change) => edgeOf(pairs, change, now))) {
              edges.set(edge.pool, edge);
              graph.set(edge);
            }
            before = markedAt(before, { now, last: now - seconds });
            graph.update(now);
            const slow = slowPrices([...edges.values()], { anchors, before, now });
            for (const token of TOKENS)
              expectEqual(slow.get(token), columnsOf(graph, token), `${token} in block ${i}`);
            const found = TOKENS.filter((token) => !anchors.includes(token)).flatMap(
              (token) => slow.get(token) ?? [],
            );
            seen.prices += found.length;
            seen.departures += found.filter(({ departedAt }) => departedAt !== null).length;
            before = afterBlock(before, slow);
          }
        }),
        // In a quarter of them none has a departure, once in a while.
        { numRuns: 300 },
      );
      expect(seen.prices).to.be.greaterThan(1_000);
      expect(seen.departures).to.be.greaterThan(0);
    });
  }

  it("are those of the index where pools leave others in steps", () => {
    const seen = { held: 0, followed: 0 };
    fc.assert(
      fc.property(anySteps, (steps) => {
        const graph = new PriceGraph(["usdc"]);
        const pools = new Map<string, PriceEdge>();
        let before = new Map<string, PriceBefore>();
        let last = 0;
        for (const { time, edges } of edgesInSteps(steps)) {
          for (const edge of edges) {
            pools.set(edge.pool, edge);
            graph.set(edge);
          }
          graph.update(time);
          before = markedAt(before, { now: time, last });
          const slow = slowPrices([...pools.values()], { anchors: ["usdc"], before, now: time });
          expectEqual(slow.get("t"), columnsOf(graph, "t"), `t at ${time}`);
          before = afterBlock(before, slow);
          last = time;
          seen.held += slow.get("t")?.departedAt === null ? 0 : 1;
          seen.followed += slow.get("t")?.agreedUsd === null ? 0 : 1;
        }
      }),
      { numRuns: randomRuns(300) },
    );
    expect(seen.held, "prices held").to.be.at.least(leastCases(200));
    expect(seen.followed, "prices that followed pools against others").to.be.at.least(leastCases(50));
  }).timeout(120_000);

  it("are bounded as the index bounds them", () => {
    const side = fc.record({
      amount: fc.double({ min: 1e-6, max: 1e9, noNaN: true }),
      usd: fc.option(fc.double({ min: 1e-6, max: 1e6, noNaN: true })),
      supportUsd: fc.constantFrom(0, 10_000, 1e6, Number.POSITIVE_INFINITY),
    });
    fc.assert(
      fc.property(side, side, fc.double({ min: 1e-6, max: 1e6, noNaN: true }), (side0, side1, price) => {
        const expected = valuePrices(side0, side1, price);
        const [usd0, usd1] = boundedUsd(side0, side1, price);
        expect(isClose(usd0, expected.usd0) && isClose(usd1, expected.usd1)).to.equal(true);
      }),
    );
  });

  it("count the depth that was there in every second", () => {
    const points = fc
      .array(fc.record({ age: fc.integer({ min: 0, max: 600 }), depth: fc.integer({ min: 0, max: 16 }) }), {
        minLength: 1,
      })
      .map((list) => {
        const byTime = new Map(list.map(({ age, depth }) => [10_000 - age, depth]));
        return [...byTime]
          .sort(([a], [b]) => a - b)
          .map(([time, depth]) => ({ time, price: 1, depth0: depth, depth1: 16 }));
      });
    fc.assert(
      fc.property(points, (list) => {
        expect(heldShareAt(list, 10_000)).to.equal(heldShare(list, 10_000));
      }),
    );
  });
});
