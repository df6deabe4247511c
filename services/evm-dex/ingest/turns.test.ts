import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { lastTurn, newest, numberOf } from "./turns.ts";

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

describe("newest", () => {
  it("has as many as it may, and none that is older than one that is left out", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(30)), fc.nat(20), (blocks, most) => {
        const due = blocks.map((block, i) => ({ block, i }));
        const chosen = newest(due, most, ({ block }) => block);
        const left = due.filter((each) => !chosen.includes(each));
        expect(chosen).to.have.length(Math.min(most, due.length));
        expect(new Set(chosen).size).to.equal(chosen.length);
        const oldest = Math.min(...chosen.map(({ block }) => block));
        for (const { block } of left) expect(block).to.be.at.most(oldest);
      }),
    );
  });
});
