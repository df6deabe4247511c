import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { compileCollection } from "./declaration.ts";
import { createSql, SQLITE_DIALECT } from "./sqlite-sql.ts";

describe("sqlite text", () => {
  const { encode, decode } = SQLITE_DIALECT.text as NonNullable<typeof SQLITE_DIALECT.text>;
  const anyText = fc.string({ unit: fc.constantFrom("\0", "\x01", "\x02", "a", "é"), maxLength: 12 });
  const compare = (a: string, b: string): number => Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b)));

  it("comes back, holds no NUL, and keeps its order", () => {
    fc.assert(
      fc.property(anyText, anyText, (a, b) => {
        expect(decode(encode(a))).to.equal(a);
        expect(encode(a)).to.not.contain("\0");
        expect(compare(encode(a), encode(b))).to.equal(compare(a, b));
      }),
      { numRuns: 5_000 },
    );
  });
});

describe("sqlite tables", () => {
  const declare = (fields: number): string[] =>
    createSql(
      compileCollection({
        name: "rows",
        fields: {
          id: "int",
          ...Object.fromEntries(Array.from({ length: fields }, (_, i) => [`text${i}`, "text"] as const)),
        },
        key: ["id"],
        indexes: [{ fields: ["text0"] }, { fields: ["text1"], unique: true }],
        shardKey: ["id"],
      }),
    );

  it("lie in key order when rows are narrow, and in order of arrival when they are wide", () => {
    expect(declare(3)[0]).to.match(/WITHOUT ROWID$/);
    expect(declare(20)[0]).to.match(/STRICT$/);
  });

  it("have indexes that end with the key, unless they are unique", () => {
    expect(declare(3).slice(1)).to.deep.equal([
      'CREATE INDEX "rows_by_text0" ON "rows" ("text0", "id")',
      'CREATE UNIQUE INDEX "rows_by_text1_unique" ON "rows" ("text1")',
    ]);
  });
});
