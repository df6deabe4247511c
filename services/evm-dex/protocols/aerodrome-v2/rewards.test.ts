import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { epochEnd, withReward } from "./rewards.ts";

const WEEK = 604_800;
/** Thursday, 2 November 2023, 00:00 UTC. */
const THURSDAY = Date.UTC(2023, 10, 2) / 1000;
const NONE = { rewardRate: 0n, periodFinish: 0 };

describe("epochEnd", () => {
  it("is the next Thursday, 00:00 UTC, never the second itself", () => {
    for (const [time, end] of [
      [THURSDAY - 1, THURSDAY],
      [THURSDAY, THURSDAY + WEEK],
      [THURSDAY + WEEK - 1, THURSDAY + WEEK],
    ] as const) {
      expect(epochEnd(time)).to.equal(end);
      expect(new Date(end * 1000).getUTCDay()).to.equal(4);
    }
  });
});

describe("withReward", () => {
  it("spreads a week's amount over what is left of it, rounded down", () => {
    expect(withReward(NONE, { amount: 1_000_000n, time: THURSDAY })).to.deep.equal({
      rewardRate: 1n,
      periodFinish: THURSDAY + WEEK,
    });
    expect(withReward(NONE, { amount: 3_700n, time: THURSDAY + WEEK - 1_000 })).to.deep.equal({
      rewardRate: 3n,
      periodFinish: THURSDAY + WEEK,
    });
  });

  it("adds what is left of a period under way, and nothing of one that is over", () => {
    const first = withReward(NONE, { amount: 604_800_000n, time: THURSDAY });
    expect(first.rewardRate).to.equal(1_000n);
    const half = THURSDAY + WEEK / 2;
    expect(withReward(first, { amount: 302_400_000n, time: half }).rewardRate).to.equal(2_000n);
    for (const later of [first.periodFinish, first.periodFinish + 5]) {
      const amount = 604_800n * 7n;
      expect(withReward(first, { amount, time: later }).rewardRate).to.equal(
        amount / BigInt(epochEnd(later) - later),
      );
    }
  });

  it("pays out everything but less than a raw unit a second", () => {
    const amount = fc.bigInt({ min: 0n, max: 10n ** 27n });
    const seconds = fc.array(fc.tuple(fc.nat(WEEK - 1), amount), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(seconds, (notified) => {
        const inOrder = [...notified].sort(([a], [b]) => a - b);
        let rewards = NONE;
        let [due, at] = [0n, THURSDAY];
        for (const [second, added] of inOrder) {
          const time = THURSDAY + second;
          due += added - rewards.rewardRate * BigInt(time - at);
          rewards = withReward(rewards, { amount: added, time });
          const planned = rewards.rewardRate * BigInt(rewards.periodFinish - time);
          expect(planned <= due && due - planned < BigInt(inOrder.length * WEEK)).to.equal(true);
          at = time;
        }
      }),
    );
  });
});
