import { expect } from "chai";
import { describe, it } from "mocha";
import { formatDateTime, integerCell, type TypedRow, toCells } from "./cells.ts";
import { checkRows } from "./testkit/check-rows.ts";
import { sampleItem, sampleList } from "./testkit/sample-endpoints.ts";

const item: TypedRow<typeof sampleItem> = {
  days: [[1, null, "x"]],
  counts: [1, null, "18446744073709551615"],
  valueUSD: null,
  flag: true,
  liquidity: 5n,
  amount: 2n ** 60n,
};

describe("toCells", () => {
  it("lays an object out in column order, big integers as text", () => {
    const cells = toCells(sampleItem, item);
    expect(cells).to.deep.equal([
      "1152921504606846976",
      "5",
      true,
      null,
      [1, null, "18446744073709551615"],
      [[1, null, "x"]],
    ]);
    checkRows(sampleItem, [cells]);
  });

  it("keeps a small 64-bit integer a number", () => {
    expect(toCells(sampleItem, { ...item, amount: 7n })[0]).to.equal(7);
  });

  it("checks names and types when compiled, and missing names when run", () => {
    // @ts-expect-error: tvlUsd is missing
    const missing = () => toCells(sampleList, { poolAddress: "0x", createdAt: formatDateTime(0) });
    expect(missing).to.throw("Cannot make a row of /evm/sample/list: tvlUsd is missing.");
    // @ts-expect-error: tvlUsd is no string, extra is no column
    const wrong = () => toCells(sampleList, { poolAddress: "0x", createdAt: "", tvlUsd: "1", extra: 2 });
    expect(wrong()).to.have.length(3);
  });
});

describe("integerCell", () => {
  it("is a number while that is exact", () => {
    expect(integerCell(9_007_199_254_740_991n)).to.equal(9_007_199_254_740_991);
    expect(integerCell(9_007_199_254_740_993n)).to.equal("9007199254740993");
    expect(integerCell(-9_007_199_254_740_993n)).to.equal("-9007199254740993");
  });
});

describe("formatDateTime", () => {
  it("writes ISO 8601 in UTC with an offset", () => {
    expect(formatDateTime(1_785_932_479)).to.equal("2026-08-05T12:21:19+00:00");
    expect(formatDateTime(0)).to.equal("1970-01-01T00:00:00+00:00");
    expect(formatDateTime(253_402_300_799)).to.equal("9999-12-31T23:59:59+00:00");
  });

  it("refuses what is no whole second of a four-digit year", () => {
    for (const time of [1.5, Number.NaN, 253_402_300_800, 1_785_932_479_000]) {
      expect(() => formatDateTime(time), String(time)).to.throw("Cannot format");
    }
  });
});
