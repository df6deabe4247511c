import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { BoundedMap } from "./bounded-map.ts";

describe("bounded map", () => {
  it("forgets the one that was set longest ago, through any settings and deletions", () => {
    const step = fc.tuple(fc.constantFrom("set", "delete"), fc.nat(8));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), fc.integer({ min: 1, max: 6 }), (steps, maxEntries) => {
        const map = new BoundedMap<number>(maxEntries);
        /** Oldest first. */
        let model: [key: string, value: number][] = [];
        for (const [at, [what, number]] of steps.entries()) {
          const key = `key ${number}`;
          model = model.filter(([known]) => known !== key);
          if (what === "delete") map.delete(key);
          else {
            map.set(key, at);
            model = [...model, [key, at] as [string, number]].slice(-maxEntries);
          }
          expect(map.size).to.equal(model.length);
          for (let each = 0; each <= 8; each += 1)
            expect(map.get(`key ${each}`)).to.equal(new Map(model).get(`key ${each}`));
        }
      }),
    );
  });
});
