import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from "hyparquet";
import { afterEach, beforeEach, describe, it } from "mocha";
import { type ParquetColumn, ParquetFile } from "./parquet-file.ts";

const COLUMNS: readonly ParquetColumn[] = [
  { name: "address", type: "text", nullable: false },
  { name: "note", type: "text", nullable: true },
  { name: "block", type: "int", nullable: false },
  { name: "previous", type: "int", nullable: true },
  { name: "usd", type: "float", nullable: true },
  { name: "isSwap", type: "bool", nullable: false },
  { name: "time", type: "time", nullable: false },
  { name: "departedAt", type: "time", nullable: true },
];

describe("ParquetFile", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "archive-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it("keeps every value exactly, over several row groups, for another reader", async () => {
    const path = join(folder, "deep", "day.parquet");
    const file = new ParquetFile(path, { columns: COLUMNS, about: { chainId: "8453" } });
    const time = 1_700_000_000;
    const most = Number.MAX_SAFE_INTEGER;
    await file.add([
      ["0xab", `${2n ** 255n}`],
      ["é\u0000\n", null],
      [0, most],
      [null, -most],
      [0.1 + 0.2, null],
      [true, false],
      [time, 0],
      [null, time],
    ]);
    expect(existsSync(path), "not before it is whole").to.equal(false);
    await file.add([["0xcd"], [""], [7], [8], [-5e-324], [true], [1], [2]]);
    await file.finish();
    expect(readdirSync(join(folder, "deep"))).to.deep.equal(["day.parquet"]);
    const buffer = await asyncBufferFromFile(path);
    const metadata = await parquetMetadataAsync(buffer);
    expect(metadata.row_groups.map(({ num_rows }) => num_rows)).to.deep.equal([2n, 1n]);
    expect(metadata.key_value_metadata).to.deep.equal([{ key: "chainId", value: "8453" }]);
    const at = (seconds: number) => new Date(seconds * 1000);
    expect(await parquetReadObjects({ file: buffer })).to.deep.equal([
      {
        ...{ address: "0xab", note: "é\u0000\n", block: 0n, previous: null, usd: 0.1 + 0.2 },
        ...{ isSwap: true, time: at(time), departedAt: null },
      },
      {
        ...{ address: `${2n ** 255n}`, note: null, block: BigInt(most), previous: -BigInt(most), usd: null },
        ...{ isSwap: false, time: at(0), departedAt: at(time) },
      },
      {
        ...{ address: "0xcd", note: "", block: 7n, previous: 8n, usd: -5e-324 },
        ...{ isSwap: true, time: at(1), departedAt: at(2) },
      },
    ]);
  });

  it("leaves no file under its name when it is given up, and the next attempt succeeds", async () => {
    const path = join(folder, "day.parquet");
    const columns = COLUMNS.slice(0, 1);
    const given = new ParquetFile(path, { columns, about: {} });
    await given.add([["a".repeat(100_000)]]);
    given.close();
    expect(readdirSync(folder)).to.deep.equal(["day.parquet.tmp"]);
    const file = new ParquetFile(path, { columns, about: {} });
    await file.add([["b"]]);
    await file.finish();
    expect(await parquetReadObjects({ file: await asyncBufferFromFile(path) })).to.deep.equal([
      { address: "b" },
    ]);
    expect(readdirSync(folder)).to.deep.equal(["day.parquet"]);
  });

  it("fails where the folder cannot be made", () => {
    writeFileSync(join(folder, "taken"), "");
    expect(
      () => new ParquetFile(join(folder, "taken", "day.parquet"), { columns: COLUMNS, about: {} }),
    ).to.throw();
  });
});
