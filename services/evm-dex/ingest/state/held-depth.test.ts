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
    const find = (pool: string) => [growing, other].find(({ row }) => row.poolAddress === pool);
    setState(growing, { price: 1.002, whole: 20_000n, time: T });
    setState(other, { price: 1, whole: 60_000n, time: T });
    prices.closeBlock([growing, other], T, find);
    setState(growing, { price: 1.002, whole: 100_000n, time: T + 1_000 });
    prices.closeBlock([growing], T + 1_000, find);
    // An eighth of 100,000 has been held: less than 60,000.
    expect(prices.usd(TOKEN)).to.equal(1);
    prices.closeBlock([], T + 1_299, find);
    expect(prices.usd(TOKEN)).to.equal(1);
    prices.closeBlock([], T + 1_300, find);
    expect(prices.usd(TOKEN)).to.be.closeTo(1.002, 1e-9);
  });
});
