import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import { after, before, describe, it } from "mocha";
import { sampleItem, sampleList } from "../contract/testkit/sample-endpoints.ts";
import { randomRuns } from "../testkit/describe.ts";
import { randomRows } from "./testkit/random-rows.ts";
import { toWire } from "./testkit/read-back.ts";
import { writeTable } from "./write-table.ts";

/** A reader of Parquet that has nothing in common with the writer. */
describe("tables in DuckDB", () => {
  let folder: string;
  let query: (sql: string) => Promise<{ types: string; rows: unknown[][] }>;
  before(async function () {
    const duckdb = await import("@duckdb/node-api").catch((error: Error) => error);
    if (duckdb instanceof Error) {
      this.test?.parent?.tests.forEach((test) => {
        test.title += ` (DuckDB has no binary here: ${duckdb.message.split("\n")[0]})`;
      });
      return this.skip();
    }
    folder = await mkdtemp(join(tmpdir(), "chaintables-duckdb-"));
    const connection = await (await duckdb.DuckDBInstance.create(":memory:")).connect();
    query = async (sql) => {
      const read = await connection.runAndReadAll(sql);
      return { types: read.columnTypes().join(" "), rows: read.getRowsJS() };
    };
  });
  after(async () => {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  it("are the rows of the answer, with the types of its columns", async () => {
    let files = 0;
    for (const endpoint of [sampleList, sampleItem]) {
      await fc.assert(
        fc.asyncProperty(randomRows(endpoint), async (rows) => {
          // DuckDB keeps what it has read of a path: at the 113th file of one it read parts of an earlier one.
          const file = join(folder, `${files++}.parquet`);
          for await (const piece of writeTable("parquet", { endpoint, rows })) await writeFile(file, piece);
          const read = await query(`SELECT * FROM '${file}'`);
          expect(toWire(endpoint, read.rows)).to.deep.equal(rows);
          expect(read.types).to.equal(
            endpoint === sampleList
              ? "VARCHAR DOUBLE TIMESTAMP WITH TIME ZONE"
              : 'UBIGINT VARCHAR BOOLEAN DOUBLE UBIGINT[] STRUCT("_1" UINTEGER, "_2" DOUBLE, "_3" VARCHAR)[]',
          );
        }),
        { numRuns: randomRuns(15) },
      );
    }
  });
});
