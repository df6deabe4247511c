import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { checkWindow, resolveWindow } from "./window.ts";

const HEAD = 1_700_000_000;
const DAY = 86_400;

describe("resolveWindow", () => {
  it("without times takes the last days, the head's second included", () => {
    expect(resolveWindow({ days: 2 }, HEAD)).to.deep.equal({
      afterTime: HEAD + 1 - 2 * DAY,
      beforeTime: HEAD + 1,
    });
  });

  it("with a start alone ends days later", () => {
    expect(resolveWindow({ days: 3, after_time: 1000 }, HEAD)).to.deep.equal({
      afterTime: 1000,
      beforeTime: 1000 + 3 * DAY,
    });
  });

  it("with an end alone starts days earlier, but not before 1970", () => {
    expect(resolveWindow({ days: 1, before_time: HEAD }, HEAD)).to.deep.equal({
      afterTime: HEAD - DAY,
      beforeTime: HEAD,
    });
    expect(resolveWindow({ days: 1, before_time: 100 }, HEAD)).to.deep.equal({
      afterTime: 0,
      beforeTime: 100,
    });
  });

  it("with both ends ignores days", () => {
    expect(resolveWindow({ days: 3650, after_time: 10, before_time: 11 }, HEAD)).to.deep.equal({
      afterTime: 10,
      beforeTime: 11,
    });
  });

  it("refuses ends that leave nothing between them", () => {
    expect(() => resolveWindow({ days: 1, after_time: 11, before_time: 11 }, HEAD)).to.throw(
      "Cannot parse after_time: 11 is not below before_time 11.",
    );
    expect(() => checkWindow({ after_time: 12, before_time: 11 })).to.throw("12 is not below before_time 11");
    expect(() => checkWindow({ after_time: 12 })).to.not.throw();
  });

  it("never returns a window that ends before it starts", () => {
    const time = fc.option(fc.integer({ min: 0, max: 253_402_300_799 }), { nil: undefined });
    fc.assert(
      fc.property(time, time, fc.integer({ min: 1, max: 3650 }), (after_time, before_time, days) => {
        fc.pre(after_time === undefined || before_time === undefined || after_time < before_time);
        const { afterTime, beforeTime } = resolveWindow({ days, after_time, before_time }, HEAD);
        expect(afterTime).to.be.at.least(0);
        expect(beforeTime).to.be.at.least(afterTime);
      }),
    );
  });
});
