import fc from "fast-check";
import type { PriceEdge } from "../../price/edges.ts";

export const ANCHORS = ["0x01", "0x02"];
export const TOKENS = [...ANCHORS, "0x0a", "0x0b", "0x0c", "0x0d", "0x0e", "0x0f", "0x10", "0x11"];

/** What becomes of a pool. */
interface Change {
  readonly pool: number;
  readonly price: number;
  readonly depths: readonly [number, number];
  readonly held: number;
  readonly aged: number;
}

/** Between which tokens the pools are, and what becomes of them, some at a time. */
export const anyGraph = fc.record({
  pairs: fc.array(fc.tuple(fc.nat(TOKENS.length - 1), fc.nat(TOKENS.length - 2)), {
    minLength: 6,
    maxLength: 24,
  }),
  rules: fc.record({
    minDepthUsd: fc.constant(10_000),
    maxHops: fc.integer({ min: 2, max: 4 }),
  }),
  blocks: fc.array(
    fc.array(
      fc.record({
        pool: fc.nat(23),
        // No two of them differ by just as much as a rule names: a last digit would decide.
        price: fc.oneof(
          { weight: 3, arbitrary: fc.constantFrom(0.5, 1, 1, 1.01, 2) },
          { weight: 3, arbitrary: fc.constantFrom(1, 1.007, 1.014, 1.021, 1.028, 1.05, 1.13) },
          { weight: 1, arbitrary: fc.constantFrom(0, 1e-300, 1e300, Number.POSITIVE_INFINITY) },
        ),
        depths: fc.tuple(depth(), depth()),
        held: fc.constantFrom(0, 0.5, 1, 1, 1),
        aged: fc.constantFrom(0, 0.01, 1, 1, 1),
      }),
      { maxLength: 6 },
    ),
    { maxLength: 20 },
  ),
});

/** On both sides of the minimum, with ties. */
function depth(): fc.Arbitrary<number> {
  return fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom(0, 9_000, 20_000, 1e6) },
    { weight: 3, arbitrary: fc.integer({ min: 5_000, max: 99_999 }) },
  );
}

/** @param time Unix seconds of the change */
export function edgeOf(
  pairs: readonly (readonly [number, number])[],
  change: Change,
  time: number,
): PriceEdge {
  const at = change.pool % pairs.length;
  const [first, second] = pairs[at] as [number, number];
  return {
    pool: `0x${at.toString(16).padStart(2, "0")}`,
    token0: TOKENS[first] as string,
    token1: TOKENS[second < first ? second : second + 1] as string,
    price: change.price,
    depth0: change.depths[0],
    depth1: change.depths[1],
    held: change.held,
    aged: change.aged,
    lastTime: time,
  };
}
