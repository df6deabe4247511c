import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import {
  applyStake,
  applyTransfer,
  EMPTY_POSITION,
  type LpPosition,
  positionText,
  settle,
} from "./lp-position.ts";
import { feeGrowth } from "./v2-bucket.ts";

const WALLETS = [0, 1, 2] as const;
const amount = fc.bigInt({ min: 1n, max: 10n ** 24n });
const wallet = fc.constantFrom(...WALLETS);
const anyAction = fc.oneof(
  fc.record({ kind: fc.constant("mint" as const), to: wallet, amount }),
  fc.record({ kind: fc.constant("fees" as const), amount0: amount, amount1: amount }),
  fc.record({ kind: fc.constant("move" as const), from: wallet, to: wallet, percent: fc.bigInt(0n, 100n) }),
  fc.record({ kind: fc.constant("claim" as const), owner: wallet }),
);

type Action = typeof anyAction extends fc.Arbitrary<infer T> ? T : never;

/** Fractions of a raw unit that the textbook counts in. */
const SCALE = 2n ** 256n;

/** A pool modelled twice: by positions and an index, and by a textbook that pays out every fee at once. */
class Ledger {
  readonly accounts = WALLETS.map(() => ({ balance: 0n, fees0: 0n }));
  readonly positions: LpPosition[] = WALLETS.map(() => EMPTY_POSITION);
  readonly index = { index0: 0n, index1: 0n };
  /** What rounding can have cost a wallet. */
  slack = 1n;

  act(action: Action): void {
    if (action.kind === "mint") this.#move(action.to, action.amount);
    else if (action.kind === "fees") this.#earn(action);
    else if (action.kind === "claim") this.#put(action.owner, settle(this.#at(action.owner), this.index));
    else {
      const by = (this.#at(action.from).balance * action.percent) / 100n;
      this.#move(action.from, -by);
      this.#move(action.to, by);
    }
  }

  #at(wallet: number): LpPosition {
    return this.positions[wallet] as LpPosition;
  }

  #put(wallet: number, position: LpPosition): void {
    this.positions[wallet] = position;
    this.slack += 1n;
  }

  #move(wallet: number, amount: bigint): void {
    (this.accounts[wallet] as { balance: bigint }).balance += amount;
    this.#put(wallet, applyTransfer(this.#at(wallet), { ...this.index, amount }));
  }

  #earn({ amount0, amount1 }: { amount0: bigint; amount1: bigint }): void {
    const supply = this.accounts.reduce((sum, { balance }) => sum + balance, 0n);
    if (supply === 0n) return;
    for (const account of this.accounts) account.fees0 += (amount0 * account.balance * SCALE) / supply;
    this.index.index0 += feeGrowth(amount0, supply);
    this.index.index1 += feeGrowth(amount1, supply);
    // An index rounded down costs a holder at most balance / 1e18.
    this.slack += supply / 10n ** 18n + 1n;
  }
}

describe("LP positions", () => {
  it("earn their share of every fee while they are held, less the rounding", () => {
    fc.assert(
      fc.property(fc.array(anyAction, { maxLength: 40 }), (actions) => {
        const ledger = new Ledger();
        for (const action of actions) ledger.act(action);
        for (const wallet of WALLETS) {
          const { balance, fees0 } = ledger.accounts[wallet] as Ledger["accounts"][number];
          const settled = settle(ledger.positions[wallet] as LpPosition, ledger.index);
          expect(settled.balance).to.equal(balance);
          const lost = fees0 / SCALE - settled.earned0;
          expect(lost >= 0n && lost <= ledger.slack, `${lost} of ${ledger.slack}`).to.equal(true);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("settle to the wei as the contract does", () => {
    // 3 LP tokens of 7: 10 raw units of fees are 10e18/7 an LP token, rounded down, and of 3 of those 4.
    const held = applyTransfer(EMPTY_POSITION, { index0: 0n, index1: 0n, amount: 3n });
    const index = { index0: feeGrowth(10n, 7n), index1: feeGrowth(14n, 7n) };
    // 14 × 1e18 / 7 is whole: nothing is lost.
    expect(settle(held, index)).to.deep.equal({ ...held, ...index, earned0: 4n, earned1: 6n });
  });

  it("earn nothing for what is staked, and are not settled by staking", () => {
    const held = applyTransfer(EMPTY_POSITION, { index0: 5n, index1: 6n, amount: 10n ** 18n });
    const away = applyTransfer(held, { index0: 5n, index1: 6n, amount: -(10n ** 18n) });
    const staked = applyStake(away, 10n ** 18n);
    expect(staked).to.deep.equal({ ...away, staked: 10n ** 18n });
    expect(settle(staked, { index0: 10n ** 20n, index1: 10n ** 20n })).to.include({
      earned0: 0n,
      earned1: 0n,
    });
    expect(applyStake(staked, -(10n ** 18n))).to.deep.equal(away);
  });

  it("are kept as text", () => {
    const any = fc.bigInt({ min: 0n, max: 2n ** 200n });
    fc.assert(
      fc.property(
        fc.record({ balance: any, staked: any, index0: any, index1: any, earned0: any, earned1: any }),
        (position) => {
          expect(positionText.read(positionText.write(position))).to.deep.equal(position);
        },
      ),
    );
    expect(() => positionText.read("1 2 3")).to.throw(/balance.*"1 2 3"/);
  });
});
