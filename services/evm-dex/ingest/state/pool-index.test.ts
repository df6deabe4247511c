import { expect } from "chai";
import { describe, it } from "mocha";
import { protocolOf } from "../../protocols/index.ts";
import { address } from "../../test/kit/rows.ts";
import { PoolIndex } from "./pool-index.ts";

const V3 = protocolOf("uniswap-v3");

describe("PoolIndex", () => {
  it("has the blocks of each pool, −1 where there is none, also beyond 31 bits", () => {
    const index = new PoolIndex();
    const blocks = [-1, 0, 1, 30_000_000, 2 ** 31, 2 ** 32 - 2];
    index.reserve(3);
    for (const [n, block] of blocks.entries()) {
      expect(index.add(address(n), V3)).to.equal(n);
      expect([index.lastBlockAt(n), index.balanceBlockAt(n)], "new").to.deep.equal([-1, -1]);
      index.note(address(n), { lastBlock: block, balanceBlock: -1 });
    }
    index.noteAt(0, { lastBlock: -1, balanceBlock: 7 });
    expect(blocks.map((_, n) => index.lastBlockOf(address(n)))).to.deep.equal(blocks);
    expect(index.observedAfter(6)).to.deep.equal([address(0)]);
    expect(index.observedAfter(7)).to.deep.equal([]);
  });

  it("forgets a pool that is gone, and takes it again", () => {
    const index = new PoolIndex();
    index.add(address(1), V3);
    index.note(address(1), { lastBlock: 5, balanceBlock: 5 });
    index.remove(address(1));
    expect([index.has(address(1)), index.size, index.lastBlockOf(address(1))]).to.deep.equal([false, 0, -1]);
    expect(index.add(address(1), V3)).to.equal(0);
    expect([index.has(address(1)), index.size, index.lastBlockOf(address(1))]).to.deep.equal([true, 1, -1]);
  });
});
