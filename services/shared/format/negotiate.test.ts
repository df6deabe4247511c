import { expect } from "chai";
import { describe, it } from "mocha";
import { negotiateFormat } from "./negotiate.ts";

describe("the format that Accept asks for", () => {
  it("is the named one of the highest weight, the first of equals", () => {
    const cases: [string | undefined, string][] = [
      [undefined, "json"],
      ["", "json"],
      ["*/*", "json"],
      ["application/json", "json"],
      ["application/vnd.service.table.v1.0.0+json", "json"],
      ["application/json; rows=objects", "objects"],
      ['application/json;rows="objects"', "objects"],
      ["application/json;rows=other", "json"],
      ["text/csv", "csv"],
      ["TEXT/CSV; header=present", "csv"],
      ["text/csv, application/json", "csv"],
      ["application/json, text/csv", "json"],
      ["application/json;q=0.5, text/csv", "csv"],
      ["text/csv, */*", "csv"],
      ["text/csv;q=0", "json"],
      ["text/csv;q=x", "json"],
      ["application/x-ndjson", "ndjson"],
      ["application/ndjson;q=0.9, application/vnd.apache.parquet;q=0.8", "ndjson"],
      ["application/jsonl", "ndjson"],
      ["application/vnd.apache.arrow.stream", "arrow"],
      ["application/vnd.apache.parquet", "parquet"],
    ];
    // Twice: what was read is remembered.
    for (const [header, format] of [...cases, ...cases])
      expect(negotiateFormat(header), header).to.equal(format);
  });

  it("is the specified JSON for browsers, for clients that take anything, and for types that we do not have", () => {
    for (const header of [
      "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
      "application/json, text/plain, */*",
      "text/html",
      "text/*",
      ",;,",
    ])
      expect(negotiateFormat(header), header).to.equal("json");
  });
});
