import { expect } from "chai";
import { describe, it } from "mocha";
import { type PriceLink, priceFrom, supportOutside, type TokenLink, usdOver } from "./link.ts";

const link = (options: Partial<PriceLink>): PriceLink => ({
  ...{ token: "t", parent: "usd", pool: "p", side: 0, price: 2, hops: 1 },
  support: { pool: "p", depthUsd: 100_000, restUsd: 20_000 },
  ...options,
});

describe("usdOver", () => {
  it("takes the price as token1 per token0", () => {
    // One token0 is 2,000 token1.
    expect(usdOver(2_000, { side: 0, parentUsd: 1.5 })).to.equal(3_000);
    expect(usdOver(2_000, { side: 1, parentUsd: 3_000 })).to.equal(1.5);
  });
});

describe("supportOutside", () => {
  it("is the others' where the pool is the deepest, the deepest pool's elsewhere, and without end for an anchor", () => {
    expect(supportOutside("p", link({}))).to.equal(20_000);
    expect(supportOutside("q", link({}))).to.equal(100_000);
    expect(supportOutside("p", undefined)).to.equal(Number.POSITIVE_INFINITY);
  });
});

describe("priceFrom", () => {
  const links = new Map<string, TokenLink>([
    ["usd", { anchorUsd: 1 }],
    ["low", { anchorUsd: 0.9 }],
    ["weth", link({ token: "weth", price: 3_000 })],
    ["meme", link({ token: "meme", parent: "weth", side: 1, price: 1_000, hops: 2 })],
    ["on", link({ token: "on", parent: "low", price: 10 })],
    ["lost", link({ token: "lost", parent: "nowhere" })],
    ["round", link({ token: "round", parent: "about" })],
    ["about", link({ token: "about", parent: "round" })],
  ]);
  const linkOf = (token: string) => links.get(token);

  it("multiplies out down to an anchor, at what that is worth", () => {
    expect(priceFrom("usd", linkOf)).to.deep.equal({ usd: 1, hops: 0, link: undefined });
    expect(priceFrom("low", linkOf)).to.deep.equal({ usd: 0.9, hops: 0, link: undefined });
    expect(priceFrom("weth", linkOf)).to.deep.equal({ usd: 3_000, hops: 1, link: links.get("weth") });
    expect(priceFrom("meme", linkOf)).to.deep.equal({ usd: 3, hops: 2, link: links.get("meme") });
    expect(priceFrom("on", linkOf)?.usd).to.equal(9);
  });

  it("has no price where a link is missing, or where links run in a circle", () => {
    expect(priceFrom("nowhere", linkOf)).to.equal(undefined);
    expect(priceFrom("lost", linkOf)).to.equal(undefined);
    expect(priceFrom("round", linkOf)).to.equal(undefined);
  });
});
