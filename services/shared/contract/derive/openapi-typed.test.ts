import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import ajvFormats from "ajv-formats";
import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { randomRows } from "../../format/testkit/random-rows.ts";
import type { Cell, Column } from "../column.ts";
import type { Endpoint } from "../endpoint.ts";
import { renderTable } from "../render-table.ts";
import { checkRows } from "../testkit/check-rows.ts";
import { resolvePath } from "../testkit/openapi-schema.ts";
import { sampleItem, sampleList } from "../testkit/sample-endpoints.ts";
import { toOpenApi } from "./openapi.ts";
import { HOST_PATHS } from "./openapi-host.ts";
import { cellSchema } from "./openapi-rows.ts";
import { toTypedOpenApi } from "./openapi-typed.ts";

const samples: readonly Endpoint[] = [sampleList, sampleItem];
const document = toTypedOpenApi(samples, { hostPaths: HOST_PATHS });
const schemas = resolvePath(document, ["components", "schemas"]) as Record<string, unknown>;

// Strict where 2020-12 leaves tuples open: prefixItems must come with both bounds. `type` is text or a list, as 3.1 has it.
const ajv = new Ajv2020({ strictTuples: true, allowUnionTypes: true, strict: false });
ajvFormats.default(ajv);
ajv.addSchema(document, "doc");

function validatorOf(name: string): ValidateFunction {
  return ajv.compile({ $ref: `doc#/components/schemas/${name}` });
}

function checks(endpoint: Endpoint, row: readonly Cell[]): boolean {
  try {
    checkRows(endpoint, [row]);
    return true;
  } catch {
    return false;
  }
}

describe("toTypedOpenApi", () => {
  it("is the document of 3.0 but for the schemas of tables and the way to say null", () => {
    const plain = toOpenApi(samples, { hostPaths: HOST_PATHS });
    expect(document.openapi).to.equal("3.1.0");
    for (const part of ["info", "servers", "security", "tags"])
      expect(document[part]).to.deep.equal(plain[part]);
    const parameters = ["paths", sampleList.path, "get", "parameters"];
    expect(resolvePath(document, parameters)).to.deep.equal(resolvePath(plain, parameters));
    const others = (from: unknown) =>
      Object.keys(resolvePath(from, ["paths", sampleList.path, "get", "responses"]) as object);
    expect(others(document)).to.deep.equal(others(plain));
    const limits = ["paths", "/usage", "get", "responses", "200", "content", "application/json", "schema"];
    expect(resolvePath(document, [...limits, "properties", "limits", "type"])).to.deep.equal([
      "object",
      "null",
    ]);
    expect(JSON.stringify(document)).not.to.contain('"nullable"');
  });

  it("refers to nothing that is missing, and keeps nothing that is not referred to", () => {
    const text = JSON.stringify(document);
    const references = new Set([...text.matchAll(/"\$ref":"#([^"]+)"/g)].map(([, pointer]) => pointer));
    for (const pointer of references)
      expect(resolvePath(document, (pointer as string).split("/").slice(1)), pointer).not.to.equal(undefined);
    for (const name of Object.keys(schemas)) expect(references).to.include(`/components/schemas/${name}`);
  });

  it("has a cell's type, unit and nullability by its place", () => {
    const cells = resolvePath(schemas, ["EvmSampleListRow"]) as { readonly prefixItems: unknown };
    expect(cells).to.include({ minItems: 3, maxItems: 3 });
    expect(cells.prefixItems).to.deep.equal([
      { title: "poolAddress", type: "string", description: "An address.", "x-type": "String" },
      {
        title: "tvlUsd",
        type: ["number", "null"],
        format: "double",
        description: "A value, |a| + |b|. Unit: USD.",
        "x-type": "Nullable(Float64)",
        "x-unit": "USD",
      },
      {
        title: "createdAt",
        type: "string",
        format: "date-time",
        description: "A time.",
        "x-type": "DateTime",
      },
    ]);
    // The type says nothing of null, the declaration does.
    expect(resolvePath(schemas, ["SolanaSampleItemRow", "prefixItems", 3, "type"])).to.deep.equal([
      "number",
      "null",
    ]);
    const byName = ["SolanaSampleItemObject", "properties", "valueUSD", "type"];
    expect(resolvePath(schemas, byName)).to.deep.equal(["number", "null"]);
  });

  it("allows each type its own values and no others", () => {
    const cases: [Column["type"], Cell[], Cell[]][] = [
      ["String", ["", "a"], [1, null, true]],
      ["Bool", [true], ["true", 1, null]],
      ["UInt8", [0, 255], [256, -1, 0.5, "1"]],
      ["UInt32", [2 ** 32 - 1], [2 ** 32, -1]],
      ["Int32", [-(2 ** 31), 2 ** 31 - 1], [2 ** 31, "1", 0.5]],
      ["UInt64", [0, "18446744073709551615"], [-1, 0.5, "-1", "01", ""]],
      ["Int64", [-1, "-9223372036854775808"], [0.5, "+1", "-0"]],
      ["UInt256", ["0", "1".repeat(78)], [1, "-1", "1e3", null]],
      ["Nullable(Float64)", [1.5, 0, null], ["1.5", true]],
      ["DateTime", ["2026-08-05T12:21:19+00:00"], ["2026-08-05", 1, "2026-13-05T12:21:19+00:00"]],
      ["Array(Nullable(UInt64))", [[], [1, null, "18446744073709551615"]], [[-1], 1, null]],
      ["Array(Tuple(UInt32, Nullable(Float64)))", [[], [[1, null]]], [[[1]], [[1, 2, 3]], [[null, 1]], [1]]],
    ];
    for (const [type, good, bad] of cases) {
      const validate = ajv.compile(cellSchema({ name: "cell", type, description: "A cell." }));
      for (const cell of good) expect(validate(cell), `${type}: ${JSON.stringify(cell)}`).to.equal(true);
      for (const cell of bad) expect(validate(cell), `${type}: ${JSON.stringify(cell)}`).to.equal(false);
    }
  });

  it("describes all rows that the columns allow, as cells, as objects and in their tables", () => {
    for (const [endpoint, name] of [
      [sampleList, "EvmSampleList"],
      [sampleItem, "SolanaSampleItem"],
    ] as const) {
      const [row, object, table] = ["Row", "Object", "Table"].map((kind) => validatorOf(name + kind));
      fc.assert(
        fc.property(randomRows(endpoint), (rows) => {
          expect(table?.(JSON.parse(renderTable(endpoint, rows))), JSON.stringify(table?.errors)).to.equal(
            true,
          );
          for (const cells of rows) {
            const named = Object.fromEntries(endpoint.columns.map((column, at) => [column.name, cells[at]]));
            expect([row?.(cells), object?.(named)]).to.deep.equal([true, true]);
            expect(row?.([...cells, null])).to.equal(false);
            expect(row?.(cells.slice(1))).to.equal(false);
          }
        }),
      );
    }
  });

  it("refuses a cell of another type, as the check of rows does", () => {
    const validate = validatorOf("SolanaSampleItemRow");
    const foreign = fc.constantFrom<Cell>("x", 0.5, true, null, -1, [], [[1, null, "x"]], "7", 7);
    const place = fc.nat({ max: sampleItem.columns.length - 1 });
    fc.assert(
      fc.property(randomRows(sampleItem), foreign, place, ([row], cell, at) => {
        fc.pre(row !== undefined);
        const changed = (row as Cell[]).map((kept, index) => (index === at ? cell : kept));
        // "7" of 64 bits is a number on the wire: a schema has no arithmetic to say so.
        if (cell === "7" && sampleItem.columns[at]?.type === "UInt64") return;
        expect(validate(changed), JSON.stringify(changed)).to.equal(checks(sampleItem, changed));
      }),
    );
  });
});
