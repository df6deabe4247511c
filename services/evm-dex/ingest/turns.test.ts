import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { lastTurn, numberOf } from "./turns.ts";

describe("lastTurn", () => {
  it("is the newest block of the phase up to the head; negative before the first", () => {
    expect(lastTurn(1_000, { every: 100, phase: 7 })).to.equal(907);
    expect(lastTurn(907, { every: 100, phase: 7 })).to.equal(907);
    expect(lastTurn(906, { every: 100, phase: 7 })).to.equal(807);
    expect(lastTurn(6, { every: 100, phase: 7 })).to.equal(-93);
  });

  it("lies within one period of the head, and stays until the next turn", () => {
    fc.assert(
      fc.property(
        fc.nat(1e9),
        fc.integer({ min: 1, max: 5_000 }),
        fc.nat(2 ** 32 - 1),
        (head, every, phase) => {
          const turn = lastTurn(head, { every, phase });
          expect(turn).to.be.within(head - every + 1, head);
          expect((turn - phase) % every).to.be.closeTo(0, 0);
          expect(lastTurn(turn + every - 1, { every, phase })).to.equal(turn);
          expect(lastTurn(turn + every, { every, phase })).to.equal(turn + every);
        },
      ),
    );
  });
});

describe("numberOf", () => {
  it("is the last four bytes of an address", () => {
    expect(numberOf(`0x${"f".repeat(32)}0000002a`)).to.equal(42);
    expect(numberOf(`0x${"f".repeat(40)}`)).to.equal(2 ** 32 - 1);
  });
});
