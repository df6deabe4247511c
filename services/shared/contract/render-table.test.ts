import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import type { Cell } from "./column.ts";
import type { RowText } from "./endpoint.ts";
import { renderTable, toRowText } from "./render-table.ts";
import { sampleItem, sampleList } from "./testkit/sample-endpoints.ts";

const LIST_COLUMNS = [
  { name: "poolAddress", type: "String" },
  { name: "tvlUsd", type: "Nullable(Float64)" },
  { name: "createdAt", type: "DateTime" },
];
const item: readonly Cell[] = [1, "2", null, 0.5, [1, null], [[1, null, "x"]]];

describe("renderTable", () => {
  it("puts the table of an EVM endpoint into an array", () => {
    const rows = [
      ["a", 1.5, "t"],
      ["b", null, "t"],
    ];
    expect(JSON.parse(renderTable(sampleList, rows))).to.deep.equal([
      { columns: LIST_COLUMNS, data: rows, rows: 2 },
    ]);
  });

  it("returns the table of a Solana endpoint bare", () => {
    const table = JSON.parse(renderTable(sampleItem, [item]));
    expect(table).to.have.all.keys("columns", "data", "rows");
    expect(table.data).to.deep.equal([item]);
    expect(table.columns[3]).to.deep.equal({ name: "valueUSD", type: "Float64" });
  });

  it("renders an empty table with its columns", () => {
    expect(renderTable(sampleList, [])).to.equal(
      `[{"columns":${JSON.stringify(LIST_COLUMNS)},"data":[],"rows":0}]`,
    );
  });

  it("throws on what JSON would lose, also inside arrays", () => {
    const lost = [
      Number.NaN,
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
      undefined,
      5n,
      {},
      () => 1,
      new Date(),
    ];
    for (const value of lost) {
      expect(() => renderTable(sampleList, [["a", value as Cell, "t"]]), String(value)).to.throw(
        "row 0, column tvlUsd",
      );
      const nested = [1, "2", null, 0, [1, value], []] as Cell[];
      expect(() => renderTable(sampleItem, [item, nested]), String(value)).to.throw("row 1, column counts");
    }
  });

  it("accepts rows rendered ahead, alone or among others", () => {
    const rows = [
      ["a", 1.5, "t"],
      ['"\u2028\0', null, "t"],
    ] as const;
    const body = renderTable(sampleList, rows);
    const texts = rows.map((row) => toRowText(sampleList, row));
    expect(renderTable(sampleList, texts)).to.equal(body);
    expect(renderTable(sampleList, [rows[0], texts[1] as RowText])).to.equal(body);
    expect(() => toRowText(sampleList, ["a", Number.NaN, "t"])).to.throw("column tvlUsd");
    expect(() => toRowText(sampleList, ["a", 1])).to.throw("2 cells for 3 columns");
    expect(() => renderTable(sampleList, [texts[0] as RowText, ["a", 1]])).to.throw("row 1 has 2 cells");
  });

  it("throws on a row of another length", () => {
    expect(() => renderTable(sampleList, [["a", 1]])).to.throw("row 0 has 2 cells for 3 columns");
  });

  it("keeps every row and cell", () => {
    const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0); // JSON knows no -0
    const row = fc.tuple(fc.string({ unit: "binary" }), fc.option(number), fc.string());
    fc.assert(
      fc.property(fc.array(row), (rows) => {
        const [table] = JSON.parse(renderTable(sampleList, rows));
        expect(table).to.deep.include({ data: rows, rows: rows.length });
      }),
    );
  });
});
