import fc from "fast-check";
import { describe, it } from "mocha";
import { expectSame } from "../../../shared/testkit/expect-same.ts";
import { LayeredMap } from "./layered-map.ts";

describe("layered map", () => {
  it("says what one map with all changes says, and never changes itself", () => {
    const entries = fc.array(
      fc.tuple(fc.integer({ min: 0, max: 3_000 }), fc.option(fc.nat(), { nil: undefined })),
      {
        maxLength: 1_500,
      },
    );
    fc.assert(
      fc.property(entries, fc.array(entries, { maxLength: 4 }), (base, layers) => {
        const expected = new Map(base);
        let map = new LayeredMap(new Map(base));
        for (const layer of layers) {
          const before = new Map(expected);
          const former = map;
          map = map.with(new Map(layer));
          for (const [key, value] of layer) expected.set(key, value);
          for (const [key] of layer)
            expectSame([former.has(key), former.get(key)], [before.has(key), before.get(key)]);
        }
        for (let key = 0; key <= 3_000; key++)
          expectSame([map.has(key), map.get(key)], [expected.has(key), expected.get(key)]);
      }),
      { numRuns: 50 },
    );
  });
});
