import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { type CountFilter, countByGroup, countMatching } from "./segment-counts.ts";
import { classifyValue, lowerBoundOfClass } from "./value-class.ts";

const value = fc.oneof(
  fc.constant(null),
  fc.constant(0),
  fc.double({ min: 1e-7, max: 1e13, noNaN: true }),
  fc.integer({ min: 2, max: 200 }).map(lowerBoundOfClass),
);
const rows = fc.array(fc.record({ group: fc.nat(9), txType: fc.nat(3), valueUsd: value }), { maxLength: 40 });
const filter: fc.Arbitrary<CountFilter> = fc
  .record({
    group: fc.option(fc.nat(9), { nil: undefined }),
    txTypes: fc.option(fc.subarray([0, 1, 2, 3]), { nil: undefined }),
    minValueUsd: fc.option(fc.oneof(value, fc.constantFrom(5, 100)), { nil: undefined }),
  })
  .map(
    ({ group, txTypes, minValueUsd }) =>
      ({
        ...(group !== undefined && { group }),
        ...(txTypes !== undefined && { txTypes }),
        ...(typeof minValueUsd === "number" && { minValueUsd }),
      }) as CountFilter,
  );

describe("counts of a segment", () => {
  it("are by what rows are filtered by, each kind once", () => {
    const row = { group: 1, txType: 0, valueUsd: 5 };
    const counts = countByGroup([row, { ...row, valueUsd: null }, { ...row, valueUsd: 5.0001 }, row]);
    expect(counts.length).to.equal(4);
    expect(countMatching(counts, {})).to.deep.equal({ certain: 4, uncertain: 0 });
  });

  it("give how many rows a filter matches, except for those close to the least value", () => {
    fc.assert(
      fc.property(rows, filter, (found, query) => {
        const { group, txTypes, minValueUsd } = query;
        const taken = found.filter(
          (row) =>
            (group === undefined || row.group === group) &&
            (txTypes === undefined || txTypes.includes(row.txType)) &&
            (minValueUsd === undefined || (row.valueUsd !== null && row.valueUsd >= minValueUsd)),
        );
        const { certain, uncertain } = countMatching(countByGroup(found), query);
        expect(taken.length).to.be.within(certain, certain + uncertain);
        if (minValueUsd === undefined) expect(uncertain).to.equal(0);
        else if (lowerBoundOfClass(classifyValue(minValueUsd)) === minValueUsd) expect(uncertain).to.equal(0);
      }),
    );
  });

  it("leave rows without a value out of every minimum, even zero", () => {
    const counts = countByGroup([{ group: 0, txType: 1, valueUsd: null }]);
    expect(countMatching(counts, { minValueUsd: 0 })).to.deep.equal({ certain: 0, uncertain: 0 });
  });
});
