import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { FixedHashMap } from "./fixed-hash-map.ts";

describe("fixed hash map", () => {
  it("holds what a Map holds, through any additions and removals", () => {
    const step = fc.tuple(fc.boolean(), fc.nat(40), fc.nat(2));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const map = new FixedHashMap<number>();
        const model = new Map<string, number>();
        const keyOf = (number: number) => `/path?a=${number * 75}`;
        for (const [isAdded, number, value] of steps) {
          const key = keyOf(number);
          if (!isAdded) {
            map.remove(key, value);
            if (model.get(key) === value) model.delete(key);
          } else if (!model.has(key)) {
            map.add(key, value);
            model.set(key, value);
          }
          for (let each = 0; each <= 40; each += 1)
            expect(map.get(keyOf(each))).to.equal(model.get(keyOf(each)));
        }
      }),
      { numRuns: 50 },
    );
  });

  it("distinguishes keys of one bucket", () => {
    const map = new FixedHashMap<number>();
    for (let number = 0; number < 5_000; number += 1) map.add(`key ${number}`, number);
    for (let number = 0; number < 5_000; number += 2) map.remove(`key ${number}`, number);
    for (let number = 0; number < 5_000; number += 1)
      expect(map.get(`key ${number}`)).to.equal(number % 2 === 0 ? undefined : number);
  });
});
