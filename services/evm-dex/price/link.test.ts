import { expect } from "chai";
import { describe, it } from "mocha";
import {
  ANCHOR_PRICE,
  baseOf,
  type Hop,
  type PriceLink,
  priceFrom,
  priceOver,
  type TokenLink,
  usdOver,
} from "./link.ts";

const hop = (options: Partial<Hop>): Hop => ({
  parent: "usd",
  pool: "p",
  side: 0,
  price: 2,
  depth: 100,
  ...options,
});
const link = (options: Partial<PriceLink>): PriceLink => ({
  ...hop(options),
  token: "t",
  detour: [],
  isAnchored: options.parent === undefined,
  ...options,
});

describe("usdOver", () => {
  it("takes the price as token1 per token0", () => {
    // One token0 is 2,000 token1.
    expect(usdOver(2_000, { side: 0, parentUsd: 1.5 })).to.equal(3_000);
    expect(usdOver(2_000, { side: 1, parentUsd: 3_000 })).to.equal(1.5);
  });
});

describe("priceOver", () => {
  it("extends the parent's price over one pool", () => {
    const parent = { usd: 3, hops: 2, depthUsd: 1e6 };
    expect(priceOver(link({ side: 0, price: 2, depth: 100 }), parent)).to.deep.equal({
      usd: 6,
      hops: 3,
      depthUsd: 300,
    });
    expect(priceOver(link({ side: 1, price: 2, depth: 1e9 }), parent)).to.deep.equal({
      usd: 1.5,
      hops: 3,
      depthUsd: 1e6,
    });
  });

  it("follows the detour from its end, at the base", () => {
    const far = link({
      parent: "b",
      side: 1,
      price: 0.5,
      depth: 1_000,
      detour: [hop({ parent: "a", price: 3, depth: 50 }), hop({ parent: "usd", price: 7, depth: 400 })],
    });
    expect(baseOf(far)).to.equal("usd");
    // a = 7 with 400 USD behind it, b = 21 with 50 × 7, the token = 42.
    expect(priceOver(far, ANCHOR_PRICE)).to.deep.equal({ usd: 42, hops: 3, depthUsd: 350 });
  });
});

describe("priceFrom", () => {
  const links = new Map([
    ["weth", link({ token: "weth", price: 3_000, depth: 5e6 })],
    ["meme", link({ token: "meme", parent: "weth", side: 1, price: 1_000, depth: 20 })],
    ["lost", link({ token: "lost", parent: "nowhere" })],
    ["round", link({ token: "round", parent: "about" })],
    ["about", link({ token: "about", parent: "round" })],
  ]);
  const requested: string[] = [];
  const linkOf = (token: string): TokenLink | undefined => {
    requested.push(token);
    return token === "usd" ? "anchor" : links.get(token);
  };

  it("multiplies out down to an anchor, whose link it does not read", () => {
    expect(priceFrom("usd", linkOf)).to.deep.equal(ANCHOR_PRICE);
    expect(priceFrom("weth", linkOf)).to.deep.equal({ usd: 3_000, hops: 1, depthUsd: 5e6 });
    expect(priceFrom("meme", linkOf)).to.deep.equal({ usd: 3, hops: 2, depthUsd: 60_000 });
    expect(requested).to.deep.equal(["usd", "weth", "meme", "weth"]);
  });

  it("has no price where a link is missing, or where links run in a circle", () => {
    expect(priceFrom("nowhere", linkOf)).to.equal(undefined);
    expect(priceFrom("lost", linkOf)).to.equal(undefined);
    expect(priceFrom("round", linkOf)).to.equal(undefined);
  });
});
