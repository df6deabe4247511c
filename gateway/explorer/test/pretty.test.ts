import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { renderTable } from "../../../services/shared/contract/render-table.ts";
import { sampleItem, sampleList } from "../../../services/shared/contract/testkit/sample-endpoints.ts";
import { randomRows } from "../../../services/shared/format/testkit/random-rows.ts";
import { prettyAnswer } from "../browser/parts/pretty.js";

describe("explorer: answers as text", () => {
  it("gives each column and each row of a table a line", () => {
    const table = { columns: [{ name: "a", type: "Bool" }], data: [[true], [false]], rows: 2 };
    expect(prettyAnswer(JSON.stringify([table]))).to.equal(`[{
  "columns": [
    {"name":"a","type":"Bool"}
  ],
  "data": [
    [true],
    [false]
  ],
  "rows": 2
}]`);
  });

  it("says what the answer said", () => {
    for (const endpoint of [sampleList, sampleItem]) {
      fc.assert(
        fc.property(randomRows(endpoint), (rows) => {
          const text = renderTable(endpoint, rows);
          expect(JSON.parse(prettyAnswer(text))).to.deep.equal(JSON.parse(text));
        }),
      );
    }
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(JSON.parse(prettyAnswer(text))).to.deep.equal(JSON.parse(text));
      }),
    );
  });

  it("leaves what is no JSON as it is", () => {
    for (const text of ["", "a,b\r\n1,2\r\n", '{"a":1}\n{"a":2}\n'])
      expect(prettyAnswer(text)).to.equal(text);
  });
});
