import { expect } from "chai";
import { describe, it } from "mocha";
import type { Cell } from "../../../services/shared/contract/column.ts";
import { sampleList } from "../../../services/shared/contract/testkit/sample-endpoints.ts";
import type { Answer } from "../asking.ts";
import { MAX_CHARACTERS, renderTable } from "./table-text.ts";

const NOW_MS = Date.parse("2026-05-01T12:00:00Z");

function answerOf(count: number, more: Partial<Answer> = {}): Answer {
  const rows = Array.from({ length: count }, (_, at): Cell[] => [
    `0x${at}`,
    at / 3,
    "2026-01-01T00:00:00+00:00",
  ]);
  const version = {
    block: 7,
    asOf: "2026-05-01T11:59:48+00:00",
    stale: undefined,
    positionsFromBlock: undefined,
  };
  return { endpoint: sampleList, rows, total: undefined, ...version, ...more };
}
const render = (answer: Answer, shown: Partial<Parameters<typeof renderTable>[1]> = {}) =>
  JSON.parse(renderTable(answer, { offset: 0, limit: undefined, nowMs: NOW_MS, ...shown }));

describe("a table for a model", () => {
  it("names its block and its age", () => {
    expect(render(answerOf(1))).to.include({ block: 7, ageSeconds: 12 });
    expect(render(answerOf(1, { stale: "prices; age=99" }))).to.include({ stale: "prices; age=99" });
    expect(render(answerOf(1, { asOf: "2026-05-01T12:00:05+00:00" }))).to.include({ ageSeconds: 0 });
  });

  it("has only the columns that were asked for, in that order", () => {
    const { columns, rows } = render(answerOf(2), { columns: ["tvlUsd", "poolAddress"] });
    expect(columns).to.deep.equal(["tvlUsd", "poolAddress"]);
    expect(rows[1]).to.deep.equal([1 / 3, "0x1"]);
  });

  it("says how many more rows there are and how to get them", () => {
    expect(render(answerOf(20, { total: 154 }), { offset: 40, limit: 20 })).to.include({
      rowsShown: 20,
      rowsTotal: 154,
      more: "94 more rows: ask again with offset=60.",
    });
    expect(render(answerOf(20), { limit: 20 }).more).to.equal(
      "There may be more rows: ask again with offset=20.",
    );
    const last = render(answerOf(3), { offset: 40, limit: 20 });
    expect(last).to.include({ rowsShown: 3, rowsTotal: 43 }).and.not.have.property("more");
  });

  it("cuts rows that have no room, and counts them", () => {
    const { rows, rowsShown, more } = render(answerOf(2_000), {});
    expect(rows).to.have.length(rowsShown);
    expect(JSON.stringify(rows).length).to.be.within(MAX_CHARACTERS - 100, MAX_CHARACTERS + 2);
    expect(more).to.equal(
      `${2_000 - rowsShown} more rows (${2_000 - rowsShown} of them were cut at 20000 characters): ask again with offset=${rowsShown}, or for fewer columns.`,
    );
    const page = render(answerOf(2_000, { total: 9_000 }), { offset: 1_000, limit: 2_000 });
    expect(page.more).to.match(
      new RegExp(`^${8_000 - page.rowsShown} more rows \\(${2_000 - page.rowsShown} of them were cut`),
    );
  });

  it("shows a row that is too long by itself all the same", () => {
    const long = answerOf(2);
    const rows = [["x".repeat(MAX_CHARACTERS * 2), 1, ""], long.rows[1] as Cell[]];
    expect(render({ ...long, rows })).to.include({ rowsShown: 1, rowsTotal: 2 });
  });
});
