import { expect } from "chai";
import type { Cell } from "../../../shared/contract/column.ts";
import type { ExpectedRange, expectedState } from "./pool-expectation.ts";

/** USD of rows are rounded to a millionth. */
const RELATIVE_ERROR = 1e-6;

/** The row of a v3 pool against what the chain adds up to; dexa's has no feeApr. */
export function expectPool(
  row: Record<string, Cell>,
  expected: {
    state: Awaited<ReturnType<typeof expectedState>>;
    tvlUsd: number | null;
    ranges: readonly ExpectedRange[];
  },
): void {
  const expectNear = (cell: unknown, value: number | null, title: string) => {
    if (value === null || Number.isInteger(value)) expect(cell, title).to.equal(value);
    else expect(cell, title).to.be.closeTo(value, Math.abs(value) * RELATIVE_ERROR);
  };
  const { currentPoolPrice, ...state } = expected.state;
  for (const [name, value] of Object.entries(state)) expect(row[name], name).to.deep.equal(value);
  expectNear(row.currentPoolPrice, currentPoolPrice, "currentPoolPrice");
  expectNear(row.poolTvlUsd, expected.tvlUsd, "poolTvlUsd");
  for (const [i, range] of expected.ranges.entries()) {
    for (const [name, value] of Object.entries(range)) {
      if (name !== "feeApr" || name in row)
        expectNear((row[name] as Cell[])[i], value, `${name} of ${expected.state.timeRanges[i]}`);
    }
  }
}
