import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { ReadBudget } from "./read-budget.ts";

const HOUR_MS = 3_600_000;

describe("ReadBudget", () => {
  it("allows ten reads at once, then one at a time", () => {
    let nowMs = 5;
    const budget = new ReadBudget(60, () => nowMs);
    for (let i = 0; i < 10; i++) {
      expect(budget.waitMs()).to.equal(0);
      budget.spend();
    }
    expect(budget.waitMs()).to.equal(60_000);
    nowMs += 45_000;
    expect(budget.waitMs()).to.be.closeTo(15_000, 1e-6);
    nowMs += 15_001;
    expect(budget.waitMs()).to.equal(0);
    nowMs += 100 * HOUR_MS;
    for (let i = 0; i < 10; i++) {
      expect(budget.waitMs()).to.equal(0);
      budget.spend();
    }
    expect(budget.waitMs(), "a long pause saves up no more").to.be.greaterThan(0);
  });

  it("of few reads an hour starts with no more than those, and of none never allows one", () => {
    const two = new ReadBudget(2, () => 0);
    two.spend();
    two.spend();
    expect(two.waitMs()).to.equal(HOUR_MS / 2);
    expect(new ReadBudget(0, () => 0).waitMs()).to.equal(Number.POSITIVE_INFINITY);
  });

  it("never allows more in any time than the burst and its rate", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5_000 }),
        fc.array(fc.integer({ min: 0, max: HOUR_MS / 4 }), { maxLength: 60 }),
        (perHour, pauses) => {
          let nowMs = 0;
          let spent = 0;
          const budget = new ReadBudget(perHour, () => nowMs);
          for (const ms of pauses) {
            nowMs += ms;
            while (budget.waitMs() === 0) {
              budget.spend();
              spent += 1;
            }
          }
          expect(spent).to.be.at.most(Math.min(10, perHour) + (nowMs * perHour) / HOUR_MS + 1e-6);
        },
      ),
    );
  });
});
