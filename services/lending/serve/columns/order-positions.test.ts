import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { type SortTerm, sortPositions } from "./order-positions.ts";

const upTo = (count: number) => Uint32Array.from({ length: count }, (_, at) => at);
function orderPositions(count: number, terms: readonly SortTerm[]): Uint32Array {
  const positions = upTo(count);
  sortPositions(positions, terms);
  return positions;
}

/** The same by the plainest means. */
function reference(count: number, terms: readonly SortTerm[]): number[] {
  const compared = (a: number, b: number): number => {
    if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
    return a === b ? 0 : a < b ? -1 : 1;
  };
  const byTerm = ({ keys, descending }: SortTerm, a: number, b: number): number => {
    const [x, y] = [keys[a] as number, keys[b] as number];
    const isUnknown = Number.isNaN(x) || Number.isNaN(y);
    return compared(x, y) * (descending && !isUnknown ? -1 : 1);
  };
  return Array.from({ length: count }, (_, at) => at).sort(
    (a, b) => terms.map((term) => byTerm(term, a, b)).find((sign) => sign !== 0) ?? a - b,
  );
}

/** Keys that tie, that differ in their last bits alone, of either sign, of any size, or that are missing. */
const key = fc.oneof(
  fc.constantFrom(0, -0, 1, -1, Number.NaN, Number.MAX_VALUE, -Number.MAX_VALUE, Number.MIN_VALUE),
  fc.nat(40).map((n) => 1 + n * Number.EPSILON),
  fc.nat(40).map((n) => -1 - n * Number.EPSILON),
  fc.constantFrom(Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY),
  fc.double(),
);

const table = fc
  .tuple(fc.integer({ min: 0, max: 300 }), fc.array(fc.boolean(), { maxLength: 3 }))
  .chain(([count, directions]) =>
    fc.tuple(
      fc.constant(count),
      fc.tuple(
        ...directions.map((descending) =>
          fc
            .array(key, { minLength: count, maxLength: count })
            .map((keys): SortTerm => ({ keys: Float64Array.from(keys), descending })),
        ),
      ),
    ),
  );

describe("sortPositions", () => {
  it("orders as a stable comparison does, whatever the keys", () => {
    fc.assert(
      fc.property(table, ([count, terms]) => {
        expect([...orderPositions(count, terms)]).to.deep.equal(reference(count, terms));
      }),
      { numRuns: 300 },
    );
  });

  it("sorts some of the positions alone, ties as they came", () => {
    const keys = Float64Array.from({ length: 100 }, (_, at) => at % 3);
    const some = Uint32Array.from([90, 1, 60, 2, 30, 4, 0]);
    sortPositions(some, [{ keys, descending: true }]);
    expect([...some]).to.deep.equal([2, 1, 4, 90, 60, 30, 0]);
  });

  it("orders more positions than fit a packed word", () => {
    const count = 2 ** 20 + 3;
    const keys = Float64Array.from({ length: count }, (_, at) => (at % 5 === 0 ? Number.NaN : -(at % 7)));
    const order = orderPositions(count, [{ keys, descending: false }]);
    let last = Number.NEGATIVE_INFINITY;
    for (let at = 1; at < count; at++) {
      const [before, position] = [order[at - 1] as number, order[at] as number];
      const value = keys[position] as number;
      if (value === last || (Number.isNaN(value) && Number.isNaN(last))) {
        if (before > position) expect.fail(`ties at ${at}: ${before} before ${position}`);
      } else if (!(value > last || Number.isNaN(value))) expect.fail(`${value} after ${last}`);
      last = value;
    }
    expect(new Set(order).size).to.equal(count);
  });
});
