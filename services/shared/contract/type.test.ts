import { expect } from "chai";
import { describe, it } from "mocha";
import { parseType } from "./type.ts";

describe("parseType", () => {
  it("parses scalars and compound types", () => {
    expect(parseType("UInt64")).to.deep.equal({ kind: "scalar", scalar: "UInt64" });
    expect(parseType("Array(Tuple(UInt32, Nullable(Float64), Array(String)))")).to.deep.equal({
      kind: "array",
      inner: {
        kind: "tuple",
        items: [
          { kind: "scalar", scalar: "UInt32" },
          { kind: "nullable", inner: { kind: "scalar", scalar: "Float64" } },
          { kind: "array", inner: { kind: "scalar", scalar: "String" } },
        ],
      },
    });
  });

  it("returns undefined for malformed types", () => {
    const malformed = [
      "",
      "uint64",
      "Nullable()",
      "Nullable(Array(String))",
      "Array(Nope)",
      "Tuple(String,)",
      "Array(String",
      "Map(String)",
    ];
    for (const text of malformed) expect(parseType(text), text).to.equal(undefined);
  });
});
