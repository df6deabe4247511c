import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { sortInSteps } from "./sort-in-steps.ts";

function sorted<T>(items: readonly T[], compare: (a: T, b: T) => number): { items: T[]; steps: number } {
  const sorting = sortInSteps(items, compare);
  for (let steps = 0; ; steps++) {
    const { done, value } = sorting.next();
    if (done === true) return { items: value, steps };
  }
}

describe("sortInSteps", () => {
  it("sorts as Array.sort, which is stable", () => {
    const items = fc.array(fc.tuple(fc.nat({ max: 40 }), fc.nat()), { maxLength: 3_000, size: "max" });
    const byFirst = ([a]: readonly number[], [b]: readonly number[]) => (a as number) - (b as number);
    fc.assert(
      fc.property(items, (list) => {
        expect(sorted(list, byFirst).items).to.deep.equal([...list].sort(byFirst));
      }),
      { numRuns: 30 },
    );
  });

  it("compares few items in a step", () => {
    let [compared, most, last] = [0, 0, 0];
    const list = Array.from({ length: 10_000 }, (_, i) => (i * 7_919) % 10_007);
    const sorting = sortInSteps(list, (a, b) => {
      compared += 1;
      return a - b;
    });
    while (sorting.next().done !== true) {
      most = Math.max(most, compared - last);
      last = compared;
    }
    expect(compared).to.be.greaterThan(10_000);
    expect(most).to.be.lessThan(2_500);
  });
});
