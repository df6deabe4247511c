import { expect } from "chai";
import { describe, it } from "mocha";
import { balanced, pricesIn } from "../test/prices/walk-prices.ts";
import type { PriceEdge } from "./edges.ts";
import { PriceGraph } from "./graph.ts";

/** Tokens worth 1 USD each: a pool has so much on either side. */
const poolOf = (name: string, token0: string, token1: string, depthUsd: number): PriceEdge =>
  balanced(name, { tokens: [token0, token1], usd: [1, 1], depthUsd });

/** A graph of the anchor "usd" that lives on; after each block it is what one made of the same pools is. */
class Followed {
  readonly #pools = new Map<string, PriceEdge>();
  readonly graph = new PriceGraph(["usd"]);

  /** Returns whether only some tokens were decided. */
  add(...edges: readonly PriceEdge[]): boolean {
    const anew = new PriceGraph(["usd"]);
    for (const edge of edges) {
      this.#pools.set(edge.pool, edge);
      this.graph.set(edge);
    }
    for (const edge of this.#pools.values()) anew.set(edge);
    const { local } = this.graph.walks;
    this.graph.update(0);
    anew.update(0);
    expect(pricesIn(this.graph)).to.deep.equal(pricesIn(anew));
    return this.graph.walks.local > local;
  }

  depthOf(token: string): number | undefined {
    const link = this.graph.link(token);
    return link !== undefined && "support" in link ? link.support.depthUsd : undefined;
  }
}

describe("tokens as wide as their parent", () => {
  it("change with it, and what they lead to", () => {
    const followed = new Followed();
    followed.add(
      poolOf("0x10", "usd", "hub", 500_000),
      poolOf("0x20", "hub", "heir", 1e7),
      poolOf("0x30", "heir", "heir's heir", 1e7),
      poolOf("0x40", "heir", "other", 350_000),
      poolOf("0x50", "usd", "stranger", 470_000),
    );
    const widths = () => ["hub", "heir", "heir's heir", "other"].map((token) => followed.depthOf(token));
    const before = widths();
    expect(new Set(before.slice(0, 3)).size).to.equal(1);
    expect(before[3]).to.be.lessThan(before[0] as number);
    expect(followed.add(poolOf("0x10", "usd", "hub", 400_000)), "thinner than others").to.equal(true);
    expect(new Set(widths().slice(0, 3)).size).to.equal(1);
    expect(widths()[0]).to.be.lessThan(before[0] as number);
    expect(followed.add(poolOf("0x10", "usd", "hub", 600_000)), "wider than others").to.equal(true);
    expect(widths()[2]).to.be.greaterThan(before[0] as number);
    expect(widths()[3]).to.equal(before[3]);
    expect(followed.add(poolOf("0x20", "hub", "heir", 480_000)), "wider than its heir").to.equal(true);
    expect(widths()[1]).to.be.lessThan(widths()[0] as number);
    expect(
      followed.add(poolOf("0x10", "usd", "hub", 300_000)),
      "thinner than a child that is no heir",
    ).to.equal(false);
  });

  it("are priced anew with all others where another pool makes them as wide", () => {
    const followed = new Followed();
    followed.add(
      poolOf("0x40", "usd", "wide", 1e7),
      poolOf("0x10", "wide", "heir", 300_000),
      poolOf("0x20", "usd", "hub", 400_000),
      poolOf("0x30", "hub", "heir", 1e7),
    );
    // Now the heir is taken first: the pool that makes it as wide has the lower address.
    const block = [poolOf("0x20", "usd", "hub", 500_000), poolOf("0x10", "wide", "heir", 500_000)];
    expect(followed.add(...block)).to.equal(false);
  });

  it("may be in any order until one votes for the other", () => {
    const followed = new Followed();
    followed.add(
      poolOf("0x10", "usd", "hub", 500_000),
      poolOf("0x20", "hub", "late", 300_000),
      poolOf("0x30", "hub", "early", 1e7),
    );
    expect(followed.add(poolOf("0x20", "hub", "late", 1e7)), "no neighbours").to.equal(true);
    expect(followed.add(poolOf("0x50", "late", "early", 200_000)), "neighbours").to.equal(false);
  });
});
