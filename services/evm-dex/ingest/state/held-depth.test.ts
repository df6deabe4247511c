import { expect } from "chai";
import { describe, it } from "mocha";
import { EMPTY_STATE } from "../../protocols/v3/state.ts";
import { address, poolEntry, poolRow } from "../../test/kit/rows.ts";
import type { PoolEntry } from "./pool-book.ts";
import { PoolPrices } from "./pool-prices.ts";

const [TOKEN, USD] = [address(0x10), address(0x11)];
const E18 = 10n ** 18n;
const T = 1_700_000_000;

/** The pool at a price of 1, with as many whole tokens on either side. */
function setDepth(entry: PoolEntry, whole: bigint, time: number): void {
  const reserve = whole * E18;
  entry.state = {
    ...EMPTY_STATE,
    sqrtPriceX96: 2n ** 96n,
    liquidity: 10n ** 30n,
    reserve0: reserve,
    reserve1: reserve,
  };
  entry.lastTime = time;
}

describe("PoolPrices: depth that a pool has held", () => {
  it("counts what left the window five minutes ago no more, though nothing has happened since", () => {
    const row = poolRow({ token0Address: TOKEN, token1Address: USD, token1Decimals: 18, createdAt: T - 1e7 });
    const entry = poolEntry({ row });
    const prices = new PoolPrices([USD]);
    const find = () => entry;
    const depthUsd = () => prices.price(TOKEN)?.link?.support.depthUsd;
    setDepth(entry, 20_000n, T);
    prices.closeBlock([entry], T, find);
    setDepth(entry, 100_000n, T + 1_000);
    prices.closeBlock([entry], T + 1_000, find);
    // An eighth of 100,000 has been held, rounded down to three binary digits.
    expect(depthUsd()).to.equal(12_288);
    prices.closeBlock([], T + 1_299, find);
    expect(depthUsd()).to.equal(12_288);
    prices.closeBlock([], T + 1_300, find);
    expect(depthUsd()).to.equal(98_304);
  });
});
