import { expect } from "chai";
import { describe, it } from "mocha";
import type { BalanceChange } from "./model.ts";
import { countSwapsByBalances } from "./other-swaps.ts";

function change(owner: string | null, mint: string, moved: number): BalanceChange {
  return {
    ...{ tokenAccount: `${owner} ${mint} ${moved}`, mint, owner, decimals: 6, isToken2022: false },
    ...{ before: 1_000n, after: BigInt(1_000 + moved) },
  };
}

const swap = (trader: string, pool: string) => [
  ...[change(trader, "A", -5), change(trader, "B", 7)],
  ...[change(pool, "A", 5), change(pool, "B", -7)],
];
const signers = new Set(["trader"]);
const count = (balances: BalanceChange[]) => countSwapsByBalances(balances, signers);

describe("swaps by balances", () => {
  it("are owners that did not sign, of whose tokens one went up and another down", () => {
    expect(count(swap("trader", "pool"))).to.equal(1);
    // Market makers whose authority signs are traders by this rule.
    expect(countSwapsByBalances(swap("trader", "pool"), new Set(["trader", "pool"]))).to.equal(0);
  });

  it("count each pool of a route", () => {
    const second = [change("other", "B", 7), change("other", "C", -1), change("trader", "C", 1)];
    expect(count([...swap("trader", "pool"), ...second])).to.equal(2);
  });

  it("are no transfers, no liquidity, and nothing that nets out within a route", () => {
    expect(count([change("trader", "A", -5), change("friend", "A", 5)])).to.equal(0);
    const both = ["A", "B"].flatMap((mint) => [change("trader", mint, -5), change("pool", mint, 5)]);
    expect(count(both)).to.equal(0);
    const through = [change("router", "A", 5), change("router", "A", -5), change("router", "B", 7)];
    expect(count([...through, change("router", "B", -7), change("trader", "A", -5)])).to.equal(0);
    expect(count([change(null, "A", 5), change(null, "B", -5), ...both])).to.equal(0);
  });
});
