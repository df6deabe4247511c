import { isDeepStrictEqual } from "node:util";
import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { leastCases, randomRuns } from "../../shared/testkit/describe.ts";
import { MarkKeeper } from "../test/prices/mark-keeper.ts";
import { anyStream, makeStream, type StreamBlock } from "../test/prices/random-stream.ts";
import { pricesIn } from "../test/prices/walk-prices.ts";
import type { PriceEdge } from "./edges.ts";
import { type MarkedPrices, PriceGraph } from "./graph.ts";
import { isAnchor, type TokenLink } from "./link.ts";

/** A graph that knows nothing but the pools, in this order, and the links of the block before. */
function anew(
  edges: readonly PriceEdge[],
  at: {
    anchors: readonly string[];
    feeds: ReadonlyMap<string, number | undefined>;
    links: ReadonlyMap<string, TokenLink>;
    marked: MarkedPrices;
    time: number;
  },
): PriceGraph {
  const graph = new PriceGraph(at.anchors);
  for (const edge of edges) graph.set(edge);
  for (const [anchor, usd] of at.feeds) graph.setAnchorUsd(anchor, usd);
  graph.resume(at.links, at.marked);
  graph.update(at.time);
  return graph;
}

/** chai's own comparison of large maps takes most of the time. */
function expectSame<T>(found: ReadonlyMap<string, T>, expected: ReadonlyMap<string, T>): void {
  if (isDeepStrictEqual(found, expected)) return;
  for (const [token, value] of expected) expect(found.get(token), token).to.deep.equal(value);
  expect([...found.keys()].sort()).to.deep.equal([...expected.keys()].sort());
}

const seen = { departures: 0, followed: 0, gone: 0, local: 0, prices: 0, whole: 0 };

/** A graph that lives on, and beside it everything that another one needs to say the same. */
class Followed {
  readonly #anchors: readonly string[];
  readonly #graph: PriceGraph;
  readonly #pools = new Map<string, PriceEdge>();
  readonly #feeds = new Map<string, number | undefined>();
  readonly #links: Map<string, TokenLink>;
  readonly #keeper = new MarkKeeper();
  #marked: MarkedPrices = { now: 0, usd: new Map() };
  #isFirstAtMark = false;

  constructor(anchors: readonly string[]) {
    this.#anchors = anchors;
    this.#graph = new PriceGraph(anchors);
    this.#links = new Map(anchors.map((anchor) => [anchor, { anchorUsd: 1 }]));
  }

  /** Where all agree is forgotten with the first block at or after a mark. */
  #atMark(link: TokenLink): TokenLink {
    return isAnchor(link) || !this.#isFirstAtMark ? link : { ...link, agreedUsd: undefined };
  }

  add({ time, edges, feed }: StreamBlock): void {
    for (const edge of edges) {
      this.#pools.set(edge.pool, edge);
      this.#graph.set(edge);
    }
    if (feed !== undefined) {
      this.#feeds.set(feed.anchor, feed.usd);
      this.#graph.setAnchorUsd(feed.anchor, feed.usd);
    }
    const { usd } = this.#marked;
    this.#marked = this.#keeper.beforeBlock(this.#graph, time);
    this.#isFirstAtMark = this.#marked.usd !== usd;
    this.#graph.update(time);
  }

  /** @param isTurned whether the other graph gets the pools the other way round */
  expectSameAnew(time: number, isTurned: boolean): void {
    const list = [...this.#pools.values()];
    const links = new Map([...this.#links].map(([token, link]) => [token, this.#atMark(link)]));
    const at = { anchors: this.#anchors, feeds: this.#feeds, links, marked: this.#marked, time };
    const other = anew(isTurned ? list.reverse() : list, at);
    expectSame(pricesIn(this.#graph).prices, pricesIn(other).prices);
  }

  count(): void {
    seen.local += this.#graph.walks.local;
    seen.whole += this.#graph.walks.whole;
  }

  take(): void {
    for (const { token, link } of this.#graph.takeLinks()) {
      if (link === undefined) {
        this.#links.delete(token);
        seen.gone += 1;
      } else {
        this.#links.set(token, link);
        if (!isAnchor(link) && link.departure !== undefined) seen.departures += 1;
        if (!isAnchor(link) && link.agreedUsd !== undefined) seen.followed += 1;
      }
    }
    expectSame(this.#links, this.#graph.links());
    seen.prices += this.#links.size;
  }
}

describe("PriceGraph over long streams", () => {
  it("is at every block the same as one made of the pools and the links before, in any order", () => {
    fc.assert(
      fc.property(anyStream, (made) => {
        const { anchors, blocks } = makeStream(made);
        const followed = new Followed(anchors);
        for (const [i, block] of blocks.entries()) {
          followed.add(block);
          followed.expectSameAnew(block.time, i % 2 === 1);
          followed.take();
        }
        followed.count();
      }),
      { numRuns: randomRuns(25) },
    );

    expect(seen.prices).to.be.at.least(leastCases(5_000));
    expect(seen.departures, "prices held while a pool was away").to.be.at.least(leastCases(50));
    expect(seen.followed, "prices that followed pools against others").to.be.at.least(leastCases(10));
    expect(seen.local, "walks over some tokens").to.be.at.least(leastCases(100));
    expect(seen.whole, "walks over all").to.be.at.least(leastCases(100));
    // Rare, and many at once where it happens: a few streams may have none.
    expect(seen.gone, "tokens that lost their price").to.be.at.least(leastCases(2) - 1);
  }).timeout(60_000);
});
