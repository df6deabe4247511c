import { expect } from "chai";
import { describe, it } from "mocha";
import type { Cell, ColumnType } from "../column.ts";
import type { Endpoint } from "../endpoint.ts";
import { checkRows } from "./check-rows.ts";
import { sampleList } from "./sample-endpoints.ts";

function check(type: ColumnType, cell: unknown, nullable?: true): () => void {
  const column = { name: "x", type, description: "X.", ...(nullable === undefined ? {} : { nullable }) };
  const endpoint: Endpoint = { ...(sampleList as unknown as Endpoint), columns: [column] };
  return () => checkRows(endpoint, [[cell as Cell]]);
}

const FITTING: [ColumnType, unknown[]][] = [
  ["String", ["", "x"]],
  ["Bool", [true, false]],
  ["UInt8", [0, 255]],
  ["UInt32", [0, 4_294_967_295]],
  ["Int32", [-2_147_483_648, 2_147_483_647]],
  ["UInt64", [0, 9_007_199_254_740_991, "9007199254740992", "18446744073709551615"]],
  ["Int64", [-5, 5, "-9223372036854775808", "9223372036854775807"]],
  ["UInt128", ["0", "340282366920938463463374607431768211455"]],
  ["UInt256", ["0", (2n ** 256n - 1n).toString()]],
  ["Float64", [0, -1.5, 1e300]],
  ["DateTime", ["2026-08-05T12:21:19+00:00", "2024-02-29T23:59:59+00:00"]],
  ["Nullable(Float64)", [null, 1]],
  ["Array(Nullable(UInt64))", [[], [1, null]]],
  ["Array(Tuple(UInt32, String))", [[], [[1, "x"]]]],
  ["Array(Array(Float64))", [[[], [1]]]],
];

const FOREIGN: [ColumnType, unknown[]][] = [
  ["String", [1, null, undefined, ["x"]]],
  ["Bool", [0, 1, "true", null]],
  ["UInt8", [-1, 256, 1.5, "1", null]],
  ["UInt32", [-1, 4_294_967_296, 1.5]],
  ["Int32", [2_147_483_648, -2_147_483_649]],
  ["UInt64", [-1, 9_007_199_254_740_992, "5", "18446744073709551616", "09007199254740992", 1n]],
  ["Int64", ["-5", "9223372036854775808"]],
  ["UInt128", [5, "-1", "05", "1e3", "340282366920938463463374607431768211456", ""]],
  ["UInt256", [(2n ** 256n).toString()]],
  ["Float64", [Number.NaN, Number.POSITIVE_INFINITY, "1", null]],
  [
    "DateTime",
    ["2026-08-05T12:21:19Z", "2026-08-05", "2026-02-30T00:00:00+00:00", "2026-13-01T00:00:00+00:00", 5, null],
  ],
  ["Nullable(Float64)", ["1", undefined]],
  ["Array(Nullable(UInt64))", [null, 1, ["x"], [1.5]]],
  ["Array(Tuple(UInt32, String))", [[1, "x"], [[1]], [[1, "x", 2]], [[null, "x"]]]],
  ["Array(Array(Float64))", [[1], [[null]]]],
];

describe("checkRows", () => {
  for (const [type, cells] of FITTING) {
    it(`accepts cells of ${type}`, () => {
      for (const cell of cells) expect(check(type, cell), String(cell)).to.not.throw();
    });
  }

  for (const [type, cells] of FOREIGN) {
    it(`rejects what is no ${type}`, () => {
      for (const cell of cells) expect(check(type, cell), String(cell)).to.throw(/x is .*which is not a/);
    });
  }

  it("accepts null under a plain type only where the column declares it", () => {
    expect(check("Float64", null, true)).to.not.throw();
    expect(check("Float64", null)).to.throw("/evm/sample/list row 0: x is null, which is not a Float64.");
  });

  it("counts the cells of a row", () => {
    expect(() => checkRows(sampleList, [["a"]])).to.throw("row 0: 1 cells for 3 columns");
  });
});
