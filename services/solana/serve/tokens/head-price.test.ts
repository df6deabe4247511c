import { expect } from "chai";
import { describe, it } from "mocha";
import { put } from "../../../shared/storage/port.ts";
import { ANCHORS } from "../../price/limits.ts";
import { PriceTracker } from "../../price/price-tracker.ts";
import { type PriceRow, prices } from "../../store/collections.ts";
import { toPriceRow } from "../../store/price-row.ts";
import { openTestStore } from "../../test/store.ts";
import { readPriceUsd } from "./head-price.ts";

const USDC = ANCHORS[0] as string;

/** Rows after a trade of each pool, of one token for `ratio` of another. */
function rowsAfter(...pools: [token: string, parent: string, ratio: number][]): PriceRow[] {
  const book = new PriceTracker();
  pools.forEach(([tokenOut, tokenIn, amountIn], slot) => {
    const reserves = { reserveIn: 1e6 * amountIn, reserveOut: 1e6 };
    const pool = [tokenOut, tokenIn].sort().join();
    book.applyTrade({
      pool,
      tokenIn,
      amountIn,
      tokenOut,
      amountOut: 1,
      ...reserves,
      isDust: false,
      slot,
      time: 1,
    });
  });
  return pools.flatMap(([mint]) => book.entry(mint) ?? []).map(toPriceRow);
}

describe("price at the head", () => {
  it("follows all that a token rests on", async () => {
    const store = await openTestStore();
    await store.write([put(prices, rowsAfter(["A", USDC, 3], ["B", "A", 5], ["C", "B", 7]))]);
    expect(await readPriceUsd(store, { mint: "C", time: 1 })).to.equal(105);
    expect(await readPriceUsd(store, { mint: "D", time: 1 })).to.equal(null);
    await store.close();
  });

  it("ends where rows of two moments rest on each other", async () => {
    const store = await openTestStore();
    const [, b] = rowsAfter(["A", USDC, 3], ["B", "A", 5]);
    const [, a] = rowsAfter(["B", USDC, 15], ["A", "B", 0.2]);
    await store.write([put(prices, [a as PriceRow, b as PriceRow])]);
    expect(await readPriceUsd(store, { mint: "A", time: 1 })).to.equal(null);
    await store.close();
  });
});
