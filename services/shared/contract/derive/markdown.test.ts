import { expect } from "chai";
import { describe, it } from "mocha";
import { sampleItem, sampleList } from "../testkit/sample-endpoints.ts";
import { toMarkdown } from "./markdown.ts";

describe("toMarkdown", () => {
  it("documents parameters with their rules", () => {
    const text = toMarkdown(sampleList);
    expect(text).to.match(/^## GET \/evm\/sample\/list\n\nA list\.\n/);
    expect(text).to.contain(
      "| `limit` | no | integer, 1 to 10000, default 100 | Number of rows to return at most. |",
    );
    expect(text).to.contain("| `chain_id` | no | integer, one of 1, 8453, default 8453 |");
    expect(text).to.contain("| `order_asc` | no | list, of column names |");
    expect(toMarkdown(sampleItem)).to.contain(
      "| `after_time` | yes | integer, 0 to 4000000000 | The start. |",
    );
  });

  it("documents columns with unit and meaning, pipes escaped", () => {
    expect(toMarkdown(sampleList)).to.contain(
      "| `tvlUsd` | Nullable(Float64) | USD | A value, \\|a\\| + \\|b\\|. |",
    );
    expect(toMarkdown(sampleItem)).to.contain("| `valueUSD` | Float64, may be null | USD | A value. |");
  });

  it("says how rows are ordered, what absence is and what a request costs", () => {
    expect(toMarkdown(sampleList)).to.contain(
      "Rows in order of createdAt descending, then poolAddress ascending; no rows",
    );
    expect(toMarkdown(sampleItem)).to.contain("One row; 404 where nothing is known of the address.");
    expect(toMarkdown(sampleItem)).to.contain("Also sold at 0.05 USD a request");
  });

  it("says of a live table what its stream tells, and by what its rows are named", () => {
    expect(toMarkdown(sampleList)).to.contain(
      "Live with `Accept: text/event-stream`: the table, then rows that are added, changed or removed, each with its block; rows are named by poolAddress.",
    );
    expect(toMarkdown(sampleItem)).not.to.contain("Live");
  });
});
