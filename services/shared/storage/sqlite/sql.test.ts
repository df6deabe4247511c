import { DatabaseSync } from "@photostructure/sqlite";
import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import type { Index, Layout } from "../collection.ts";
import { compileCollection } from "../declaration.ts";
import { parseQuery, type UntypedQuery } from "../query.ts";
import { LIST_QUERIES } from "../suite/list-queries.ts";
import { samples } from "../suite/sample.ts";
import { encoderOf } from "../values.ts";
import { packKeys } from "./keys/packed-keys.ts";
import { entryOf } from "./rows.ts";
import { createSql, SQLITE_DIALECT, selectPackedSql, selectSql } from "./sql.ts";

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
  const declare = (fields: number, more: readonly Index[] = [], layout?: Layout): string[] =>
    createSql(
      compileCollection({
        ...(layout && { layout }),
        name: "rows",
        fields: {
          id: "int",
          ...Object.fromEntries(Array.from({ length: fields }, (_, i) => [`text${i}`, "text"] as const)),
        },
        key: ["id"],
        indexes: [{ fields: ["text0"] }, { fields: ["text1"], unique: true }, ...more],
        shardKey: ["id"],
      }),
    );

  it("are in key order when rows are narrow, and in order of arrival when they are wide", () => {
    expect(declare(3)[0]).to.match(/WITHOUT ROWID$/);
    expect(declare(20)[0]).to.match(/STRICT$/);
  });

  it("are in order of arrival when they are paged through many indexes", () => {
    expect(declare(3, [{ fields: ["text2"] }])[0]).to.match(/STRICT$/);
  });

  it("are in order of arrival where their declaration says so", () => {
    expect(declare(3, [], "heap")[0]).to.match(/STRICT$/);
  });

  it("have indexes of both directions, and need no sorting for either", () => {
    const index = { fields: ["text0", "text2"], descending: ["text2"] };
    expect(declare(3, [index])[3]).to.equal(
      'CREATE INDEX "rows_by_text0_text2" ON "rows" ("text0", "text2" DESC, "id")',
    );
    const database = new DatabaseSync(":memory:");
    const declared = compileCollection(samples);
    for (const sql of createSql(declared)) database.exec(sql);
    const encoders = new Map(
      declared.fields.map((field) => [field.name, encoderOf(declared.name, field, SQLITE_DIALECT)] as const),
    );
    for (const { name, query } of LIST_QUERIES.filter(({ ordered }) => ordered)) {
      const { text, params } = selectSql(declared, parseQuery(declared, encoders, query as UntypedQuery));
      const steps = database.prepare(`EXPLAIN QUERY PLAN ${text}`).all(...params);
      const plan = (steps as { detail: string }[]).map(({ detail }) => detail).join("; ");
      expect(plan, name)
        .to.match(/USING INDEX/)
        .and.not.contain("TEMP B-TREE");
    }
    database.close();
  });

  it("have indexes that carry fields after the key", () => {
    const index = { fields: ["text0"], carries: ["text2", "text1"] };
    expect(declare(3, [index])[3]).to.equal(
      'CREATE INDEX "rows_by_text0" ON "rows" ("text0", "id", "text2", "text1")',
    );
  });

  it("have indexes that end with the key, unless they are unique", () => {
    expect(declare(3).slice(1)).to.deep.equal([
      'CREATE INDEX "rows_by_text0" ON "rows" ("text0", "id")',
      'CREATE UNIQUE INDEX "rows_by_text1_unique" ON "rows" ("text1")',
    ]);
  });
});

describe("the statement that looks packed keys up", () => {
  it("is the same for keys of any length: each would take a place among those that are kept", () => {
    const fields = { name: "text", owner: "hex", block: "int" } as const;
    const { declared, key } = entryOf(
      compileCollection({ name: "places", fields, key: ["name", "owner"], indexes: [], shardKey: ["name"] }),
    );
    const texts = ["", "a", "ab", "abc"].map((name) => {
      const packed = packKeys([{ name, owner: `0x${"ab".repeat(name.length + 1)}` }], key);
      return packed && selectPackedSql(declared, packed);
    });
    expect(texts[0]).to.contain("WITH RECURSIVE");
    expect(new Set(texts).size).to.equal(1);
  });
});
