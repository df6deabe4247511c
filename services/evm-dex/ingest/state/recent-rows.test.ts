import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { randomRuns } from "../../../shared/testkit/describe.ts";
import { address } from "../../test/kit/rows.ts";
import { RecentRows } from "./recent-rows.ts";

const MOST = 8;
const [POOL, OTHER] = [address(0x900), address(0x901)];

/** Two maps. A pool that is forgotten gets another name; its objects count until they are too old. */
class Model {
  #young = new Map<string, object>();
  #old = new Map<string, object>();
  readonly #times = new Map<string, number>();

  #nameOf(pool: string, key: number): string {
    return `${pool} ${this.#times.get(pool) ?? 0} ${key}`;
  }

  get(pool: string, key: number): object | undefined {
    const name = this.#nameOf(pool, key);
    return this.#young.get(name) ?? this.#old.get(name);
  }

  set(pool: string, key: number, value: object): void {
    this.#young.set(this.#nameOf(pool, key), value);
  }

  forget(pool: string): void {
    this.#times.set(pool, (this.#times.get(pool) ?? 0) + 1);
  }

  age(): void {
    if (this.#young.size < MOST / 2) return;
    this.#old = this.#young;
    this.#young = new Map();
  }
}

describe("RecentRows", () => {
  it("has of each pool and key its own object, as long as it is used, until its pool is forgotten", () => {
    const anyStep = fc.oneof(
      { weight: 20, arbitrary: fc.record({ pool: fc.constantFrom(POOL, OTHER), key: fc.nat(12) }) },
      { weight: 2, arbitrary: fc.constant("age" as const) },
      { weight: 1, arbitrary: fc.constant("forget" as const) },
    );
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 200, size: "max" }), (steps) => {
        const rows = new RecentRows<number, object>(MOST, "numbers");
        const model = new Model();
        for (const step of steps) {
          if (step === "age") {
            rows.age();
            model.age();
          } else if (step === "forget") {
            rows.forget(POOL);
            model.forget(POOL);
          } else {
            const { pool, key } = step;
            const expected = model.get(pool, key);
            expect(rows.get(pool, key) === expected, `${pool} ${key}`).to.equal(true);
            const value = expected ?? {};
            rows.set(pool, key, value);
            model.set(pool, key, value);
          }
        }
      }),
      { numRuns: randomRuns(300) },
    );
  });

  it("takes another object of the same key", () => {
    const rows = new RecentRows<number, string>(MOST, "numbers");
    rows.set(POOL, 7, "first");
    rows.set(POOL, 7, "second");
    rows.set(OTHER, 7, "other");
    expect([rows.get(POOL, 7), rows.get(OTHER, 7), rows.get(OTHER, 8)]).to.deep.equal([
      "second",
      "other",
      undefined,
    ]);
  });

  it("has rows by address, too, and refuses what is none", () => {
    const rows = new RecentRows<string, string>(MOST, "addresses");
    rows.set(POOL, address(1), "one");
    rows.set(POOL, address(2), "two");
    expect([
      rows.get(POOL, address(1)),
      rows.get(POOL, address(2)),
      rows.get(POOL, address(3)),
    ]).to.deep.equal(["one", "two", undefined]);
    expect(() => rows.get(POOL, "ann")).to.throw(RangeError, "ann is no address");
  });
});
