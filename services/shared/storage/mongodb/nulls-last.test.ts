import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import type { FieldInfo } from "../declaration.ts";
import type { OrderTerm, Predicate } from "../query.ts";
import { type NullsFirstSource, readNullsLast, type StoredRow } from "./nulls-last.ts";

const FIELDS = ["a", "b", "c", "d"].map((name): FieldInfo => ({ name, type: "int", nullable: name !== "d" }));
const cellOf = (row: StoredRow, name: string): number | null => (row[name] as number | undefined) ?? null;

/** An engine over an array that sorts null first, and counts its reads and counts. */
function engineOver(rows: readonly StoredRow[]): NullsFirstSource & { reads: number; counts: number } {
  const matches = (row: StoredRow, predicate: Predicate): boolean => {
    const value = cellOf(row, predicate.field.name);
    if (predicate.op === "null") return value === null;
    if (value === null) return false;
    if (predicate.op === "notNull") return true;
    if (!("value" in predicate)) throw new Error("not of this test");
    const bound = predicate.value as number;
    return {
      eq: value === bound,
      gt: value > bound,
      gte: value >= bound,
      lt: value < bound,
      lte: value <= bound,
    }[predicate.op];
  };
  const matching = (where: readonly Predicate[]): StoredRow[] =>
    rows.filter((row) => where.every((each) => matches(row, each)));
  return {
    reads: 0,
    counts: 0,
    async read({ where, order, skip, limit }) {
      this.reads++;
      return matching(where)
        .sort((x, y) => compare(x, y, { order, nullIs: Number.NEGATIVE_INFINITY }))
        .slice(skip, skip + limit);
    },
    async count(where) {
      this.counts++;
      return matching(where).length;
    },
  };
}

function compare(
  x: StoredRow,
  y: StoredRow,
  { order, nullIs }: { order: readonly OrderTerm[]; nullIs: number | "last" },
): number {
  for (const { field, direction } of order) {
    const last = direction === "asc" ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
    const absent = nullIs === "last" ? last : nullIs;
    const [p, q] = [cellOf(x, field.name) ?? absent, cellOf(y, field.name) ?? absent];
    if (p !== q) return (p < q ? -1 : 1) * (direction === "asc" ? 1 : -1);
  }
  return 0;
}

const term = (name: string, direction: "asc" | "desc" = "asc"): OrderTerm => {
  const field = FIELDS.find((each) => each.name === name) as FieldInfo;
  return { field, direction, nullable: field.nullable };
};
const anyCell = fc.constantFrom(undefined, 1, 2, 3);

describe("nulls last", () => {
  it("returns the page of the whole set sorted with nulls last, for any order, skip and limit", async () => {
    const anyOrder = fc
      .uniqueArray(
        fc.record({
          name: fc.constantFrom("a", "b", "c"),
          direction: fc.constantFrom("asc" as const, "desc" as const),
        }),
        {
          selector: ({ name }) => name,
        },
      )
      .chain((terms) =>
        fc
          .constantFrom("asc" as const, "desc" as const)
          .map((last) => [...terms.map((t) => term(t.name, t.direction)), term("d", last)]),
      );
    const anyRows = fc
      .array(fc.record({ a: anyCell, b: anyCell, c: anyCell }), { maxLength: 40 })
      .map((rows) => rows.map((row, d) => ({ ...row, d })));
    const anyPage = fc.record({ skip: fc.nat(45), limit: fc.nat(45) });
    await fc.assert(
      fc.asyncProperty(anyRows, anyOrder, anyPage, async (rows, order, { skip, limit }) => {
        const expected = [...rows]
          .sort((x, y) => compare(x, y, { order, nullIs: "last" }))
          .slice(skip, skip + limit);
        expect(await readNullsLast(engineOver(rows), { where: [], order, skip, limit })).to.deep.equal(
          expected,
        );
      }),
      { numRuns: 1_500 },
    );
  });

  const rows = Array.from({ length: 10 }, (_, d) => (d < 3 ? { d } : { a: d, d }));

  it("reads once while the page ends before the nulls, and once more beyond", async () => {
    for (const [skip, limit, reads, counts] of [
      [0, 7, 1, 0],
      [2, 5, 1, 0],
      [2, 6, 2, 0],
      [8, 5, 2, 1],
    ] as const) {
      const engine = engineOver(rows);
      await readNullsLast(engine, { where: [], order: [term("a"), term("d")], skip, limit });
      expect([engine.reads, engine.counts], `skip ${skip}, limit ${limit}`).to.deep.equal([reads, counts]);
    }
  });

  it("reads once when no nullable field ascends", async () => {
    const engine = engineOver(rows);
    await readNullsLast(engine, { where: [], order: [term("a", "desc"), term("d")], skip: 0, limit: 9 });
    expect([engine.reads, engine.counts]).to.deep.equal([1, 0]);
  });
});
