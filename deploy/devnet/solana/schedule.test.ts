import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import {
  computeDueMs,
  computeSize,
  computeTime,
  continueAt,
  createSchedule,
  findBeginning,
} from "./schedule.ts";

const NOW = 1_763_000_000_000;
const made = (historyS: number) => createSchedule({ firstSlot: 500, nowMs: NOW, historyS, slotMs: 400 });

describe("Solana devnet: schedule", () => {
  it("begins in the past and comes to now at an even pace", () => {
    const schedule = made(8 * 86_400);
    const live = 500 + schedule.history.length;
    expect(findBeginning(schedule)).to.equal(schedule.history[0]);
    expect(findBeginning(schedule)).to.be.below(NOW / 1_000 - 7 * 86_400);
    expect(computeDueMs(schedule, live)).to.equal(NOW);
    expect(computeDueMs(schedule, live + 10)).to.equal(NOW + 4_000);
    expect(computeTime(schedule, live + 10)).to.equal(NOW / 1_000 + 4);
    expect([computeSize(schedule, 500), computeSize(schedule, live)]).to.deep.equal([
      { transactions: 4 },
      {},
    ]);
    expect(computeTime(made(0), 500)).to.equal(NOW / 1_000);
  });

  it("never goes back in time, whatever stops it, and leaves what has been as it was", () => {
    const pauses = fc.array(
      fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 0, max: 10_000_000 })),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(pauses, (stops) => {
        let schedule = made(86_400);
        let slot = 500 + schedule.history.length;
        for (const [slots, pauseMs] of stops) {
          const before = Array.from({ length: slot + slots - 500 }, (_, i) => computeTime(schedule, 500 + i));
          slot += slots;
          schedule = continueAt(schedule, {
            fromSlot: slot,
            startMs: computeDueMs(schedule, slot) + pauseMs,
          });
          expect(before.map((_, i) => computeTime(schedule, 500 + i))).to.deep.equal(before);
        }
        for (let each = 501; each < slot + 20; each++)
          expect(computeTime(schedule, each)).to.be.at.least(computeTime(schedule, each - 1));
      }),
    );
  });
});
