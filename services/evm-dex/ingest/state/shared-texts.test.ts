import { expect } from "chai";
import { describe, it } from "mocha";
import { address, poolRow } from "../../test/kit/rows.ts";
import { SharedTexts } from "./shared-texts.ts";

describe("SharedTexts", () => {
  it("gives each row as it is", () => {
    const texts = new SharedTexts();
    for (const protocol of ["uniswap-v3", "slipstream", "uniswap-v3"]) {
      const row = poolRow({ poolAddress: address(7), protocol, token1Symbol: protocol });
      expect(texts.shareRow(row)).to.deep.equal(row);
    }
  });

  it("gives any text, also once it has seen more than it remembers", () => {
    const texts = new SharedTexts();
    const names = Array.from({ length: 25_000 }, (_, n) => `T${n % 12_500}`);
    expect(names.map((name) => texts.share(name))).to.deep.equal(names);
  });
});
