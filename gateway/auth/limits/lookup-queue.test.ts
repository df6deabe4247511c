import { expect } from "chai";
import { describe, it } from "mocha";
import { createLookupQueue } from "./lookup-queue.ts";

describe("queue of look-ups", () => {
  it("lets the first continue at once and the others at its pace", async () => {
    const queue = createLookupQueue({ paceMs: 20, maxWaiting: 10 });
    const startedMs = performance.now();
    const passed: number[] = [];
    const pass = async () => {
      expect(await queue.waitForTurn()).to.equal(true);
      passed.push(performance.now() - startedMs);
    };
    await Promise.all(Array.from({ length: 5 }, pass));
    expect(passed[0]).to.be.below(20);
    // Timers may fire a millisecond early.
    expect(passed[4]).to.be.at.least(4 * 19);
    expect(await queue.waitForTurn()).to.equal(true);
  });

  it("holds a bounded number of waiters", async () => {
    const queue = createLookupQueue({ paceMs: 5, maxWaiting: 3 });
    const waits = Array.from({ length: 6 }, () => queue.waitForTurn());
    expect(await Promise.all(waits)).to.have.members([true, true, true, true, false, false]);
    expect(await queue.waitForTurn()).to.equal(true);
  });

  it("picks at random: the first to come is not the first to continue", async () => {
    let isOrdered = true;
    for (let round = 0; round < 20 && isOrdered; round += 1) {
      const queue = createLookupQueue({ paceMs: 1, maxWaiting: 10 });
      const order: number[] = [];
      const waits = Array.from({ length: 10 }, (_, number) =>
        queue.waitForTurn().then(() => order.push(number)),
      );
      await Promise.all(waits);
      isOrdered = order.every((number, index) => number === index);
    }
    expect(isOrdered).to.equal(false);
  });
});
