import { expect } from "chai";
import { describe, it } from "mocha";
import { EMPTY_POSITION, type LpPosition } from "../../metrics/lp-position.ts";
import { ZERO_ADDRESS } from "./apply.ts";
import type { V2Event } from "./events.ts";
import { positionChanges } from "./positions.ts";
import { EMPTY_V2_STATE } from "./state.ts";

const E18 = 10n ** 18n;
const [ANN, BOB, POOL, GAUGE] = ["a", "b", "c", "9"].map((digit) => `0x${digit.repeat(40)}`) as [
  string,
  string,
  string,
  string,
];
const LOCKED = `0x${"1".padStart(40, "0")}`;
const state = { ...EMPTY_V2_STATE, gauge: GAUGE, index0: 3n * E18, index1: 5n * E18 };
const HELD: LpPosition = { ...EMPTY_POSITION, balance: 10n, staked: 4n, index0: E18, index1: E18 };
const SETTLED = { ...HELD, index0: 3n * E18, index1: 5n * E18, earned0: 20n, earned1: 40n };

/** By wallet, what becomes of ten LP tokens held and four staked. */
const changes = (event: V2Event) =>
  Object.fromEntries(
    positionChanges(event, { state, poolAddress: POOL }).map(({ wallet, after }) => [wallet, after(HELD)]),
  );
const transfer = (from: string, to: string, amount = 3n) => changes({ kind: "transfer", from, to, amount });

describe("positionChanges", () => {
  it("settles and moves the balances of both sides of a transfer", () => {
    expect(transfer(ANN, BOB)).to.deep.equal({
      [ANN]: { ...SETTLED, balance: 7n },
      [BOB]: { ...SETTLED, balance: 13n },
    });
    expect(transfer(ANN, ANN)).to.deep.equal({ [ANN]: SETTLED });
  });

  it("has no position of the zero address, the locked minimum, the pool or its gauge", () => {
    for (const excluded of [ZERO_ADDRESS, LOCKED, POOL, GAUGE]) {
      expect(Object.keys(transfer(excluded, BOB))).to.deep.equal([BOB]);
      expect(Object.keys(transfer(ANN, excluded))).to.deep.equal([ANN]);
      expect(changes({ kind: "claim", owner: excluded })).to.deep.equal({});
    }
  });

  it("stakes for the owner; the LP tokens move by their transfer", () => {
    expect(changes({ kind: "deposit", owner: ANN, amount: 6n })).to.deep.equal({
      [ANN]: { ...HELD, staked: 10n },
    });
    expect(changes({ kind: "withdraw", owner: ANN, amount: 1n })).to.deep.equal({
      [ANN]: { ...HELD, staked: 3n },
    });
  });

  it("settles at a claim, and leaves positions alone at what only the pool does", () => {
    expect(changes({ kind: "claim", owner: ANN })).to.deep.equal({ [ANN]: SETTLED });
    expect(changes({ kind: "sync", reserve0: 1n, reserve1: 1n })).to.deep.equal({});
    expect(changes({ kind: "notify_reward", amount: 1n })).to.deep.equal({});
  });

  it("stays at zero where the position before the index was unavailable", () => {
    expect(transfer(ANN, BOB, 11n)[ANN]?.balance).to.equal(0n);
    expect(changes({ kind: "withdraw", owner: ANN, amount: 5n })[ANN]?.staked).to.equal(0n);
  });
});
