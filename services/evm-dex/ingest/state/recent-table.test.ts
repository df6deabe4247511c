import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { randomRuns } from "../../../shared/testkit/describe.ts";
import { RecentTable } from "./recent-table.ts";

const NONE = -1;
const MOST = 8;

function find(table: RecentTable, key: number): number {
  table.wanted.set([key, 7]);
  return table.find();
}

/** The row of a key, which is added with its number where it is absent. */
function use(table: RecentTable, key: number): number {
  const known = find(table, key);
  if (known !== NONE) return known;
  const row = table.add();
  table.values[row] = key;
  return row;
}

describe("RecentTable", () => {
  it("keeps what was used in this generation or the one before, and drops the rest", () => {
    const table = new RecentTable({ keyWords: 2, width: 1, most: MOST });
    for (const key of [1, 2, 3, 4]) use(table, key);
    table.age();
    for (const key of [4, 5, 6, 7]) use(table, key);
    table.age();
    const kept = [1, 2, 3, 4, 5, 6, 7].filter((key) => find(table, key) !== NONE);
    expect(kept).to.deep.equal([4, 5, 6, 7]);
  });

  it("begins a row with zeros, also where another one was", () => {
    const table = new RecentTable({ keyWords: 2, width: 1, most: MOST });
    for (const key of [1, 2, 3, 4]) use(table, key);
    table.age();
    for (const key of [4, 5, 6, 7]) use(table, key);
    table.age();
    table.wanted.set([8, 7]);
    expect(table.values[table.add()]).to.equal(0);
  });

  it("keeps all while less than half of what may be kept was used", () => {
    const table = new RecentTable({ keyWords: 2, width: 1, most: MOST });
    for (const key of [1, 2, 3]) use(table, key);
    for (let turn = 0; turn < 5; turn++) table.age();
    for (const key of [1, 2, 3]) expect(find(table, key)).to.not.equal(NONE);
  });

  it("has of each key its own numbers, as a map of two generations has, however it grows and ages", () => {
    const anyStep = fc.oneof(
      { weight: 20, arbitrary: fc.nat(40).map((key) => ({ key })) },
      { weight: 1, arbitrary: fc.constant("age" as const) },
    );
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 300, size: "max" }), (steps) => {
        const table = new RecentTable({ keyWords: 2, width: 1, most: MOST });
        let [young, old] = [new Set<number>(), new Set<number>()];
        for (const step of steps) {
          if (step === "age") {
            table.age();
            if (young.size >= MOST / 2) [young, old] = [new Set(), young];
            continue;
          }
          const { key } = step;
          expect(find(table, key) !== NONE, `key ${key}`).to.equal(young.has(key) || old.has(key));
          expect(table.values[use(table, key)]).to.equal(key);
          young.add(key);
        }
      }),
      { numRuns: randomRuns(300) },
    );
  });

  it("has room for many, and keys that differ in either word", () => {
    const table = new RecentTable({ keyWords: 2, width: 2, most: MOST });
    for (let n = 0; n < 5_000; n++) {
      table.wanted.set([n % 100, Math.floor(n / 100)]);
      const row = table.add();
      table.values.set([n, n + 0.5], 2 * row);
    }
    for (let n = 0; n < 5_000; n++) {
      table.wanted.set([n % 100, Math.floor(n / 100)]);
      const row = table.find();
      expect([...table.values.slice(2 * row, 2 * row + 2)]).to.deep.equal([n, n + 0.5]);
    }
    table.wanted.set([100, 0]);
    expect(table.find()).to.equal(NONE);
  });

  it("lists changed rows once, in as many lists as wanted, until they are taken", () => {
    const table = new RecentTable({ keyWords: 2, width: 1, most: MOST });
    const [a, b, c] = [1, 2, 3].map((key) => use(table, key)) as [number, number, number];
    let [first, other] = [NONE, NONE];
    for (const row of [a, b, a, b]) first = table.change(row, first);
    other = table.change(c, other);
    expect(table.takeChanged(first)).to.have.members([a, b]);
    expect(table.takeChanged(other)).to.deep.equal([c]);
    expect(table.takeChanged(NONE)).to.deep.equal([]);
    expect(table.takeChanged(table.change(a, NONE)), "changed again").to.deep.equal([a]);
  });
});
