import { expect } from "chai";
import { describe, it } from "mocha";
import { EMPTY_STATE } from "../../protocols/v3/state.ts";
import { address, poolEntry, poolRow } from "../../test/kit/rows.ts";
import type { PoolEntry } from "./pool-book.ts";
import { PoolPrices } from "./pool-prices.ts";

const [TOKEN, USD] = [address(0x10), address(0x11)];
const E18 = 10n ** 18n;
const T = 1_700_000_000;

/** The pool with as many whole tokens on either side. */
function setState(entry: PoolEntry, at: { price: number; whole: bigint; time: number }): void {
  const reserve = at.whole * E18;
  entry.state = {
    ...EMPTY_STATE,
    sqrtPriceX96: BigInt(Math.round(Math.sqrt(at.price) * 2 ** 48)) * 2n ** 48n,
    liquidity: 10n ** 30n,
    reserve0: reserve,
    reserve1: reserve,
  };
  entry.lastTime = at.time;
}

const entryOf = (n: number) =>
  poolEntry({
    row: poolRow({
      ...{ poolAddress: address(0x900 + n), token0Address: TOKEN, token1Address: USD, token1Decimals: 18 },
      createdAt: T - 1e7,
    }),
  });

describe("PoolPrices: depth that a pool has held", () => {
  it("counts what left the window five minutes ago no more, though nothing has happened since", () => {
    const [growing, other] = [entryOf(1), entryOf(2)] as const;
    const prices = new PoolPrices([USD]);
    setState(growing, { price: 1.002, whole: 20_000n, time: T });
    setState(other, { price: 1, whole: 60_000n, time: T });
    prices.closeBlock([growing, other], T);
    setState(growing, { price: 1.002, whole: 100_000n, time: T + 1_000 });
    prices.closeBlock([growing], T + 1_000);
    // An eighth of 100,000 has been held: less than 60,000.
    expect(prices.usd(TOKEN)).to.equal(1);
    prices.closeBlock([], T + 1_299);
    expect(prices.usd(TOKEN)).to.equal(1);
    prices.closeBlock([], T + 1_300);
    expect(prices.usd(TOKEN)).to.be.closeTo(1.002, 1e-9);
  });

  it("counts it no more from that second on, though the pool has had events since", () => {
    const [growing, other] = [entryOf(1), entryOf(2)] as const;
    const prices = new PoolPrices([USD]);
    setState(growing, { price: 1.002, whole: 20_000n, time: T });
    setState(other, { price: 1, whole: 60_000n, time: T });
    prices.closeBlock([growing, other], T);
    for (const [seconds, whole] of [
      [900, 20_000n],
      [1_000, 100_000n],
      [1_100, 100_000n],
    ] as const) {
      setState(growing, { price: 1.002, whole, time: T + seconds });
      prices.closeBlock([growing], T + seconds);
    }
    prices.closeBlock([], T + 1_299);
    expect(prices.usd(TOKEN)).to.equal(1);
    prices.closeBlock([], T + 1_300);
    expect(prices.usd(TOKEN)).to.be.closeTo(1.002, 1e-9);
  });

  it("keeps no points of pools that have been at rest for five minutes, and knows them when they wake", () => {
    const [pool, other] = [entryOf(1), entryOf(2)] as const;
    const prices = new PoolPrices([USD]);
    setState(pool, { price: 1.002, whole: 100_000n, time: T });
    setState(other, { price: 1, whole: 60_000n, time: T });
    prices.closeBlock([pool, other], T);
    prices.closeBlock([other], T + 200);
    expect(prices.activeCount).to.equal(2);
    prices.closeBlock([], T + 300);
    expect(prices.activeCount, "one was used since").to.equal(1);
    prices.closeBlock([], T + 500);
    expect(prices.activeCount).to.equal(0);
    // What it was at rest it still is for five minutes: the new price is not its median, the new depth not held.
    setState(pool, { price: 1.3, whole: 100_000n, time: T + 1_000 });
    prices.closeBlock([pool], T + 1_000);
    expect(prices.graph.edge(pool.row.poolAddress)).to.deep.include({ price: prices.usd(TOKEN), held: 1 });
    expect(prices.usd(TOKEN)).to.be.closeTo(1.002, 1e-9);
  });
});
