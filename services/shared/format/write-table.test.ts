import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import type { Cell } from "../contract/column.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import { FORMATS, type Format } from "../contract/format.ts";
import { toRowText } from "../contract/render-table.ts";
import { sampleItem, sampleList } from "../contract/testkit/sample-endpoints.ts";
import type { Row } from "./rows.ts";
import { randomRows } from "./testkit/random-rows.ts";
import { readBack } from "./testkit/read-back.ts";
import { writeTable } from "./write-table.ts";

const OTHERS = FORMATS.filter((format): format is Exclude<Format, "json"> => format !== "json");
const item: Cell[] = [1, "2", null, 0.5, [1, null], [[1, null, "x"]]];

async function write(
  format: Exclude<Format, "json">,
  table: { readonly endpoint: Endpoint; readonly rows: readonly Row[] },
): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of writeTable(format, table)) pieces.push(Buffer.from(piece as string));
  return Buffer.concat(pieces);
}

describe("formats of a table", () => {
  for (const format of OTHERS) {
    it(`${format} loses no row and no cell, whatever they hold`, async () => {
      for (const endpoint of [sampleList, sampleItem]) {
        await fc.assert(
          fc.asyncProperty(randomRows(endpoint), async (rows) => {
            const bytes = await write(format, { endpoint, rows });
            expect(await readBack(format, { endpoint, bytes })).to.deep.equal(rows);
          }),
          { numRuns: 40 },
        );
      }
    });

    it(`${format} of many rows is that of all its pieces, rows rendered ahead among them`, async () => {
      const rows = Array.from({ length: 1_201 }, (_, at): Cell[] => [at, ...item.slice(1)]);
      const mixed = rows.map((row, at) => (at % 3 === 0 ? toRowText(sampleItem, row) : row));
      const bytes = await write(format, { endpoint: sampleItem, rows: mixed });
      expect(await readBack(format, { endpoint: sampleItem, bytes })).to.deep.equal(rows);
    });

    it(`${format} throws before its first piece on what cannot be sent`, async () => {
      const rows = [
        ["a", 1, "2026-08-05T12:21:19+00:00"],
        ["a", Number.NaN, ""],
      ];
      const first = writeTable(format, { endpoint: sampleList, rows }).next();
      expect(await first.catch((error) => String(error))).to.contain("row 1, column tvlUsd");
    });
  }

  it("writes texts that people and other programs read", async () => {
    const rows = [["a,b", null, "2026-08-05T12:21:19+00:00"]];
    const text = async (format: Exclude<Format, "json">) =>
      (await write(format, { endpoint: sampleList, rows })).toString();
    expect(await text("csv")).to.equal('poolAddress,tvlUsd,createdAt\n"a,b",,2026-08-05T12:21:19+00:00\n');
    const object = '{"poolAddress":"a,b","tvlUsd":null,"createdAt":"2026-08-05T12:21:19+00:00"}';
    expect(await text("ndjson")).to.equal(`${object}\n`);
    expect(await text("objects")).to.match(/^\[\{"columns":\[.*\],"data":\[\{.*\}\],"rows":1\}\]$/);
    expect(await text("objects")).to.contain(object);
  });
});
