import { isDeepStrictEqual } from "node:util";
import { expect } from "chai";

/** `to.deep.equal` for whole stores: Node compares them in a fraction of the time, and chai says what differs. */
export function expectSame(actual: unknown, expected: unknown, label?: string): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual, label).to.deep.equal(expected);
}
