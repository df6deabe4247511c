import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { encodeBigint } from "../bigint-key.ts";
import { compileCollection } from "../declaration.ts";
import type { Predicate } from "../query.ts";
import type { Stored } from "../values.ts";
import { type IdCondition, idOf, matchKey } from "./key.ts";

const declared = compileCollection({
  name: "keys",
  fields: { n: "int", text: "text", big: "bigint", flag: "bool" },
  key: ["n", "text", "big", "flag"],
  indexes: [],
  shardKey: ["n"],
});

type Key = readonly [n: number, text: string, big: bigint, flag: boolean];
const anyInt = fc.oneof(fc.constantFrom(0, 1, -1, 9, 10, -9, -10, -11, 99, 100), fc.maxSafeInteger());
const anyText = fc.oneof(
  fc.string({ unit: fc.constantFrom(" ", "!", "\0", "\u0001", "a", "b", '"', "~", "é"), maxLength: 4 }),
  fc.string(),
);
const anyBig = fc.oneof(
  fc.bigInt({ min: -20n, max: 20n }),
  fc.bigInt({ min: -(2n ** 256n), max: 2n ** 256n }),
);
const anyKey: fc.Arbitrary<Key> = fc.tuple(anyInt, anyText, anyBig, fc.boolean());

const stored = ([n, text, big, flag]: Key): Stored[] => [n, text, encodeBigint(big), flag];
const compareBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
const compareValues = (a: Stored, b: Stored): number => {
  if (typeof a === "string") return compareBytes(a, b as string);
  return Math.sign(Number(a) - Number(b)) || (a === b ? 0 : Number(a) < Number(b) ? -1 : 1);
};
const compareKeys = (a: readonly Stored[], b: readonly Stored[]): number => {
  for (let i = 0; i < a.length; i++) {
    const sign = compareValues(a[i] as Stored, b[i] as Stored);
    if (sign !== 0) return sign;
  }
  return 0;
};

describe("mongodb key", () => {
  it("is readable", () => {
    expect(idOf(declared, stored([8453, "0xab", 255n, true]))).to.equal("48453 0xab p2ff 1");
    expect(idOf(declared, stored([-8453, "a b!", 0n, false]))).to.equal("-c1546 a!Pb!Q p10 0");
  });

  it("is ordered as its fields are, field by field", () => {
    fc.assert(
      fc.property(anyKey, anyKey, fc.nat(3), (a, other, shared) => {
        // Keys that share their first fields are where an order by a joined string goes wrong.
        const b = [...a.slice(0, shared), ...other.slice(shared)] as unknown as Key;
        const [x, y] = [stored(a), stored(b)];
        expect(Math.sign(compareBytes(idOf(declared, x), idOf(declared, y)))).to.equal(
          Math.sign(compareKeys(x, y)),
        );
      }),
      { numRuns: 5_000 },
    );
  });

  it("selects by _id exactly what the covered conditions select by fields", () => {
    const operators = ["gt", "gte", "lt", "lte"] as const;
    const anyWhere = fc.tuple(
      anyKey,
      fc.nat(4),
      fc.option(fc.constantFrom(...operators)),
      fc.option(fc.constantFrom(...operators)),
      fc.boolean(),
    );
    fc.assert(
      fc.property(
        fc.array(anyKey, { maxLength: 8 }),
        anyWhere,
        (keys, [pivot, equal, first, second, asList]) => {
          const values = stored(pivot);
          const where: Predicate[] = declared.key.slice(0, equal).map((field, i) => {
            const value = values[i] as Stored;
            return asList
              ? { field, op: "in", values: [value, stored(keys[0] ?? pivot)[i] as Stored], orNull: false }
              : { field, op: "eq", value };
          });
          const next = declared.key[equal];
          for (const op of new Set([first, second])) {
            if (next !== undefined && op !== null)
              where.push({ field: next, op, value: values[equal] as Stored });
          }
          const match = matchKey(declared, where);
          expect(match === undefined).to.equal(where.length === 0);
          if (match === undefined) return;
          // Keys near the pivot: any of them may share its first fields.
          const near = keys.flatMap((key) =>
            declared.key.map((_, i) => [...values.slice(0, i), ...stored(key).slice(i)]),
          );
          for (const candidate of [values, ...near, ...keys.map(stored)]) {
            const byFields = [...match.covered].every((predicate) => holds(predicate, candidate));
            const byId = match.conditions.some((condition) => holdsId(condition, idOf(declared, candidate)));
            expect(byId, JSON.stringify([candidate, match.conditions])).to.equal(byFields);
          }
        },
      ),
      { numRuns: 3_000 },
    );
  });
});

function holds(predicate: Predicate, key: readonly Stored[]): boolean {
  const value = key[declared.key.indexOf(predicate.field)] as Stored;
  if (predicate.op === "in") return predicate.values.includes(value);
  if (!("value" in predicate)) throw new Error("not of this test");
  const sign = compareValues(value, predicate.value);
  return { eq: sign === 0, gt: sign > 0, gte: sign >= 0, lt: sign < 0, lte: sign <= 0 }[predicate.op];
}

function holdsId(condition: IdCondition, id: string): boolean {
  if (typeof condition === "string") return condition === id;
  if ("$in" in condition) return condition.$in.includes(id);
  const { $gt, $gte, $lt, $lte } = condition;
  return (
    ($gt === undefined || compareBytes(id, $gt) > 0) &&
    ($gte === undefined || compareBytes(id, $gte) >= 0) &&
    ($lt === undefined || compareBytes(id, $lt) < 0) &&
    ($lte === undefined || compareBytes(id, $lte) <= 0)
  );
}
