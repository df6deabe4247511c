import { Ajv, type ValidateFunction } from "ajv";
import ajvFormats from "ajv-formats";
import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { randomRows } from "../../format/testkit/random-rows.ts";
import type { Endpoint } from "../endpoint.ts";
import { resolvePath } from "../testkit/openapi-schema.ts";
import { sampleItem, sampleList } from "../testkit/sample-endpoints.ts";
import { toOpenApi } from "./openapi.ts";
import { HOST_PATHS } from "./openapi-host.ts";
import { toObjectsOpenApi } from "./openapi-objects.ts";

const samples: readonly Endpoint[] = [sampleList, sampleItem];
const document = toObjectsOpenApi(samples, { hostPaths: HOST_PATHS });
const ajv = new Ajv({ strict: false });
ajvFormats.default(ajv);
ajv.addSchema(document, "doc");

function validatorOf(name: string): ValidateFunction {
  return ajv.compile({ $ref: `doc#/components/schemas/${name}` });
}

describe("toObjectsOpenApi", () => {
  it("is the document of 3.0 but for tables, which have rows by name alone, and the format that they need", () => {
    const plain = toOpenApi(samples, { hostPaths: HOST_PATHS });
    for (const part of ["openapi", "info", "servers", "security", "tags"])
      expect(document[part]).to.deep.equal(plain[part]);
    const get = ["paths", sampleList.path, "get"];
    const parameters = resolvePath(document, [...get, "parameters"]) as { name: string; required: boolean }[];
    const others = (resolvePath(plain, [...get, "parameters"]) as typeof parameters).filter(
      ({ name }) => name !== "format",
    );
    expect(parameters.filter(({ name }) => name !== "format")).to.deep.equal(others);
    expect(parameters.find(({ name }) => name === "format")).to.deep.include({
      required: true,
      schema: { type: "string", enum: ["objects"] },
    });
    const content = resolvePath(document, [...get, "responses", "200", "content"]);
    expect(content).to.deep.equal({
      "application/json; rows=objects": {
        schema: {
          ...{ type: "array", minItems: 1, maxItems: 1 },
          items: { $ref: "#/components/schemas/EvmSampleListObjectTable" },
        },
      },
    });
  });

  it("says nothing that 3.0 does not know, refers to all that it has, and to nothing that is missing", () => {
    const text = JSON.stringify(document);
    expect(text).not.to.match(/"prefixItems"|"type":\[/);
    const references = new Set([...text.matchAll(/"\$ref":"#([^"]+)"/g)].map(([, pointer]) => pointer));
    for (const pointer of references)
      expect(resolvePath(document, (pointer as string).split("/").slice(1)), pointer).not.to.equal(undefined);
    for (const name of Object.keys(resolvePath(document, ["components", "schemas"]) as object))
      expect(references).to.include(`/components/schemas/${name}`);
  });

  it("has a property's type and nullability", () => {
    const properties = ["components", "schemas", "EvmSampleListObject", "properties"];
    expect(resolvePath(document, [...properties, "tvlUsd"])).to.deep.equal({
      ...{ type: "number", format: "double", nullable: true },
      description: "A value, |a| + |b|. Unit: USD.",
      ...{ "x-type": "Nullable(Float64)", "x-unit": "USD" },
    });
    expect(resolvePath(document, [...properties, "poolAddress", "nullable"])).to.equal(undefined);
  });

  it("describes all rows that the columns allow, and none of another type", () => {
    for (const [endpoint, name] of [
      [sampleList, "EvmSampleList"],
      [sampleItem, "SolanaSampleItem"],
    ] as const) {
      const validate = validatorOf(`${name}Object`);
      fc.assert(
        fc.property(randomRows(endpoint), (rows) => {
          for (const cells of rows) {
            const object = Object.fromEntries(endpoint.columns.map((column, i) => [column.name, cells[i]]));
            expect(validate(object), JSON.stringify(validate.errors)).to.equal(true);
            const last = endpoint.columns.at(-1)?.name as string;
            expect(validate({ ...object, [last]: { no: "cell" } })).to.equal(false);
          }
        }),
        { numRuns: 50 },
      );
    }
  });
});
