import { expect } from "chai";
import { describe, it } from "mocha";
import { createLookupQueue } from "./lookup-queue.ts";

describe("line of look-ups", () => {
  it("lets the first pass at once and the others at its pace, whoever they are", async () => {
    const line = createLookupQueue({ paceMs: 20, maxWaiting: 10 });
    const startedMs = performance.now();
    const passed: number[] = [];
    const pass = async () => {
      expect(await line.waitForTurn()).to.equal(true);
      passed.push(performance.now() - startedMs);
    };
    await Promise.all(Array.from({ length: 5 }, pass));
    expect(passed[0]).to.be.below(20);
    // Timers may fire a millisecond early.
    expect(passed[4]).to.be.at.least(4 * 19);
    expect(await line.waitForTurn()).to.equal(true);
  });

  it("keeps so many waiting and no more", async () => {
    const line = createLookupQueue({ paceMs: 5, maxWaiting: 3 });
    const asked = Array.from({ length: 6 }, () => line.waitForTurn());
    expect(await Promise.all(asked)).to.have.members([true, true, true, true, false, false]);
    expect(await line.waitForTurn()).to.equal(true);
  });

  it("draws by lot: who came first has no right to the front", async () => {
    let isOrdered = true;
    for (let round = 0; round < 20 && isOrdered; round += 1) {
      const line = createLookupQueue({ paceMs: 1, maxWaiting: 10 });
      const order: number[] = [];
      const asked = Array.from({ length: 10 }, (_, number) =>
        line.waitForTurn().then(() => order.push(number)),
      );
      await Promise.all(asked);
      isOrdered = order.every((number, place) => number === place);
    }
    expect(isOrdered).to.equal(false);
  });
});
