import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { RecentMap } from "./recent-map.ts";

describe("RecentMap", () => {
  const filled = (most: number, keys: readonly number[]) => {
    const map = new RecentMap<number, string>(most);
    for (const key of keys) map.set(key, `value ${key}`);
    return map;
  };

  it("keeps what was used in this generation or the last one", () => {
    const map = filled(4, [1, 2, 3, 4]);
    map.age();
    expect([map.get(1), map.get(2)]).to.deep.equal(["value 1", "value 2"]);
    map.age();
    expect([1, 2, 3, 4].map((key) => map.get(key) !== undefined)).to.deep.equal([true, true, false, false]);
  });

  it("keeps all values until half of the limit was used", () => {
    const map = filled(100, [1, 2, 3]);
    for (let time = 0; time < 5; time++) map.age(() => false);
    expect(map.get(3)).to.equal("value 3");
  });

  it("drops none that is needed, and keeps no more others than the limit: those used first", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.uniqueArray(fc.nat(60)),
        fc.array(fc.nat(60)),
        (most, keys, needed) => {
          const map = filled(most, keys);
          const isNeeded = (key: number) => needed.includes(key);
          map.age((value) => isNeeded(Number(value.slice("value ".length))));
          const others = keys.filter((key) => !isNeeded(key));
          const kept = new Set([...keys.filter(isNeeded), ...others.slice(0, most)]);
          expect(keys.filter((key) => map.get(key) === `value ${key}`)).to.have.members([...kept]);
        },
      ),
    );
  });
});
