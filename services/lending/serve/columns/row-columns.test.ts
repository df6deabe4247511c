import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import {
  ColumnDictionaries,
  distinctTexts,
  layoutOf,
  lookupByText,
  mapTexts,
  pick,
  positionsOf,
  RowColumns,
  replaceTexts,
} from "./row-columns.ts";

interface Row {
  readonly name: string;
  readonly size: number | null;
  readonly open: boolean;
}

const LAYOUT = layoutOf<Row>()({
  texts: { name: (row) => row.name },
  numbers: { size: (row) => row.size, open: (row) => row.open },
});

function columnsOf(rows: readonly Row[], memory = new ColumnDictionaries()) {
  const columns = new RowColumns(LAYOUT, memory);
  for (const row of rows) columns.add(row);
  columns.close();
  return columns;
}

const row = fc.record({
  name: fc.constantFrom("a", "b", "c", ""),
  size: fc.oneof(fc.constant(null), fc.double(), fc.integer()),
  open: fc.boolean(),
});

describe("RowColumns", () => {
  it("has in each column what its rows had; null and what is not finite are NaN", () => {
    fc.assert(
      fc.property(fc.array(row, { maxLength: 900 }), (rows) => {
        const columns = columnsOf(rows);
        const { ids, dictionary } = columns.text("name");
        expect(columns.count).to.equal(rows.length);
        expect([...ids].map((id) => dictionary.textOf(id))).to.deep.equal(rows.map(({ name }) => name));
        const sizes = rows.map(({ size }) => (size !== null && Number.isFinite(size) ? size : Number.NaN));
        expect([...columns.number("size")]).to.deep.equal(sizes);
        expect([...columns.number("open")]).to.deep.equal(rows.map(({ open }) => Number(open)));
      }),
      { numRuns: 50 },
    );
  });

  it("picks rows, finds them by text, and maps texts to texts and numbers", () => {
    const rows = ["b", "a", "b", "c"].map((name, size) => ({ name, size, open: true }));
    const columns = columnsOf(rows);
    const name = columns.text("name");
    expect([...positionsOf(name, "b")]).to.deep.equal([0, 2]);
    expect([...positionsOf(name, "never")]).to.deep.equal([]);
    const picked = pick(columns, positionsOf(name, "b"));
    expect(picked.count).to.equal(2);
    expect([...picked.number("size")]).to.deep.equal([0, 2]);
    expect([...picked.text("name").ids].map((id) => name.dictionary.textOf(id))).to.deep.equal(["b", "b"]);
    expect([...distinctTexts(name)]).to.deep.equal(["b", "a", "c"]);
    expect([...distinctTexts(picked.text("name"))]).to.deep.equal(["b"]);
    const mapped: string[] = [];
    const lengths = mapTexts(name, (text) => mapped.push(text));
    expect([...lengths]).to.deep.equal([1, 2, 1, 3]);
    expect(mapped, "each text once").to.deep.equal(["b", "a", "c"]);
    const same = replaceTexts(name, (text) => (text === "c" ? "C" : "ab"));
    expect([...same.ids].map((id) => same.dictionary.textOf(id))).to.deep.equal(["ab", "ab", "ab", "C"]);
    const sizeOf = lookupByText(name, columns.number("size"));
    expect([sizeOf("a"), sizeOf("c"), sizeOf("never")]).to.deep.equal([1, 3, Number.NaN]);
  });

  it("keeps the ids of texts from one head to the next, and drops unused texts", () => {
    const memory = new ColumnDictionaries();
    const rowNamed = (name: string) => ({ name, size: 1, open: true });
    const first = columnsOf([rowNamed("a"), rowNamed("b")], memory).text("name");
    const second = columnsOf([rowNamed("b"), rowNamed("c")], memory).text("name");
    expect(second.dictionary).to.equal(first.dictionary);
    expect(second.ids[0]).to.equal(first.ids[1]);
    expect(lookupByText(second, Float64Array.of(7, 8))("a"), "known, but of no row any more").to.deep.equal(
      Number.NaN,
    );
    const many = Array.from({ length: 5_000 }, (_, n) => rowNamed(`${n}`));
    columnsOf(many, memory);
    columnsOf([rowNamed("b")], memory);
    const later = columnsOf([rowNamed("b")], memory).text("name");
    expect(later.dictionary.size).to.equal(1);
  });
});
