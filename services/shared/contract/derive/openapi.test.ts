import { Ajv } from "ajv";
import { expect } from "chai";
import { describe, it } from "mocha";
import type { Endpoint } from "../endpoint.ts";
import { integer } from "../param.ts";
import { renderTable } from "../render-table.ts";
import { findOpenApiErrors, resolvePath } from "../testkit/openapi-schema.ts";
import { sampleItem, sampleList } from "../testkit/sample-endpoints.ts";
import { operationId, toOpenApi } from "./openapi.ts";

const samples: readonly Endpoint[] = [sampleList, sampleItem];
const document = toOpenApi(samples);

/** The value at the end of these keys in the endpoint's operation. */
function partOf(endpoint: Endpoint, keys: readonly (string | number)[], from: unknown = document): unknown {
  return resolvePath(from, ["paths", endpoint.path, "get", ...keys]);
}

interface Parameter {
  readonly name: string;
  readonly description: string;
  readonly schema: unknown;
}

function parameterOf(endpoint: Endpoint, name: string): Parameter | undefined {
  return parameterIn(document, endpoint, name);
}

function parameterIn(from: unknown, endpoint: Endpoint, name: string): Parameter | undefined {
  return (partOf(endpoint, ["parameters"], from) as Parameter[]).find((one) => one.name === name);
}

describe("toOpenApi", () => {
  it("is a valid OpenAPI 3.0.0 document", () => {
    expect(findOpenApiErrors(document)).to.deep.equal([]);
    expect(document.info).to.include({ version: "0.1.0" });
  });

  it("is rejected by the check when it is not", () => {
    const breaks: [RegExp, string, string][] = [
      [/NotFound has no target/, '"NotFound":', '"Nowhere":'],
      [/getEvmSampleList is used twice/, `"${operationId(sampleItem)}"`, `"${operationId(sampleList)}"`],
      [/list names a parameter twice/, '"name":"offset"', '"name":"limit"'],
      [/parameters\/0\/schema/, '"type":"integer"', '"type":"whole"'],
      [/additional properties/, '"summary"', '"title"'],
    ];
    for (const [fault, from, to] of breaks) {
      const broken = JSON.parse(JSON.stringify(document).replace(from, to));
      expect(findOpenApiErrors(broken).join("\n"), from).to.match(fault);
    }
  });

  it("is the same text each time", () => {
    expect(JSON.stringify(toOpenApi(samples))).to.equal(JSON.stringify(document));
  });

  it("publishes each parameter's rule", () => {
    expect(parameterOf(sampleList, "limit")).to.deep.include({
      in: "query",
      required: false,
      schema: { type: "integer", minimum: 1, maximum: 10000, default: 100 },
      example: 10,
    });
    expect(parameterOf(sampleList, "chain_id")?.schema).to.deep.equal({
      type: "integer",
      enum: [1, 8453],
      default: 8453,
    });
    expect(parameterOf(sampleList, "pool_address")?.schema).to.deep.equal({
      type: "string",
      pattern: "^0x[a-fA-F0-9]{40}$",
    });
    expect(parameterOf(sampleList, "borrowable")?.schema).to.deep.equal({ type: "boolean" });
    expect(parameterOf(sampleList, "min_usd")?.schema).to.deep.equal({ type: "number", minimum: 0 });
    expect(parameterOf(sampleItem, "after_time")).to.deep.include({ required: true, example: 100 });
    expect(parameterOf(sampleItem, "after_time")?.schema).to.include({ format: "int64" });
  });

  it("shows examples that are one request together: none of an alias, no column in both order lists", () => {
    expect(parameterOf(sampleItem, "token_address")).to.have.property("example");
    expect(parameterOf(sampleItem, "program_id")).not.to.have.property("example");
    expect(parameterOf(sampleList, "order_asc")).to.deep.include({ example: ["poolAddress"] });
    expect(parameterOf(sampleList, "order_desc")).to.deep.include({ example: ["tvlUsd"] });
    expect(partOf(sampleList, ["x-examples-of"])).to.equal("mainnet");
  });

  it("shows an instance's own examples instead, and omits parameters without one", () => {
    const examples = { [sampleList.path]: { chain_id: "1", borrowable: "false", min_usd: "0.5" } };
    const live = toOpenApi(samples, { examples });
    expect(findOpenApiErrors(live)).to.deep.equal([]);
    const shown = (partOf(sampleList, ["parameters"], live) as (Parameter & { example?: unknown })[])
      .filter(({ example }) => example !== undefined)
      .map(({ name, example }) => [name, example]);
    expect(shown).to.deep.equal([
      ["chain_id", 1],
      ["borrowable", false],
      ["min_usd", 0.5],
    ]);
    expect(partOf(sampleList, ["x-examples-of"], live)).to.equal("this instance");
    expect(partOf(sampleItem, ["x-examples-of"], live)).to.equal("mainnet");
  });

  it("has no default that is not applied: a client that sends it would request other data", () => {
    const window = { days: integer({ min: 1 }, { description: "Days." }).optional() };
    const documented = { description: "A time.", documentedDefault: 1735689600 };
    const after_time = integer({ min: 0 }, documented).optional();
    const endpoint = { ...sampleList, params: { ...window, after_time } } as unknown as Endpoint;
    const parameter = parameterIn(toOpenApi([endpoint]), endpoint, "after_time");
    expect(parameter?.schema).not.to.have.property("default");
    expect(parameter).to.include({ "x-documented-default": 1735689600 });
  });

  it("publishes the order lists with empty items", () => {
    expect(parameterOf(sampleList, "order_asc")).to.deep.include({
      required: false,
      style: "form",
      explode: false,
      schema: { type: "array", items: { type: "string", enum: ["poolAddress", "tvlUsd", "createdAt", ""] } },
    });
    expect(parameterOf(sampleItem, "order_asc")).to.equal(undefined);
  });

  it("requires neither a parameter nor its alias alone", () => {
    expect(parameterOf(sampleItem, "token_address")).to.include({ required: false });
    expect(parameterOf(sampleItem, "program_id")?.description).to.contain(
      "One of this and token_address is sent.",
    );
  });

  it("answers under the endpoint's media type, with its columns", () => {
    const content = ["responses", 200, "content"];
    const columns = partOf(sampleList, [...content, sampleList.mediaType, "schema", "items", "x-columns"]);
    expect(columns).to.have.length(3);
    expect(resolvePath(columns, [1])).to.deep.equal({
      name: "tvlUsd",
      type: "Nullable(Float64)",
      unit: "USD",
      description: "A value, |a| + |b|.",
    });
    expect(partOf(sampleList, ["responses", 200, "description"])).to.contain(
      "| `tvlUsd` | Nullable(Float64) | USD | A value, \\|a\\| + \\|b\\|. |",
    );
    expect(partOf(sampleItem, [...content, "application/json", "schema"])).to.have.property("x-columns");
  });

  it("describes what renderTable renders", () => {
    const ajv = new Ajv({ strict: false, allErrors: true });
    ajv.addSchema(document, "doc");
    const bodies: [Endpoint, string][] = [
      [sampleList, renderTable(sampleList, [["a", null, "t"]])],
      [sampleItem, renderTable(sampleItem, [[1, "2", true, 0.5, [1, null], [[1, null, "x"]]]])],
    ];
    for (const [endpoint, body] of bodies) {
      const keys = [
        "paths",
        endpoint.path,
        "get",
        "responses",
        "200",
        "content",
        endpoint.mediaType,
        "schema",
      ];
      const pointer = keys
        .map((key) => encodeURIComponent(key.replaceAll("~", "~0").replaceAll("/", "~1")))
        .join("/");
      const validate = ajv.compile({ $ref: `doc#/${pointer}` });
      expect(validate(JSON.parse(body)), JSON.stringify(validate.errors)).to.equal(true);
      expect(validate(endpoint === sampleList ? {} : [])).to.equal(false);
    }
  });

  it("declares the errors, and 402 only where requests are sold", () => {
    const common = ["200", "304", "400", "401", "403", "404", "408", "429", "500", "503"];
    expect(Object.keys(partOf(sampleList, ["responses"]) as object)).to.deep.equal(common);
    expect(Object.keys(partOf(sampleItem, ["responses"]) as object)).to.have.members([...common, "402"]);
    expect(resolvePath(document, ["components", "schemas", "Error", "required"])).to.equal(undefined);
    expect(Object.keys(partOf(sampleList, ["responses", 200, "headers"]) as object)).to.deep.equal([
      "X-Data-Block",
      "X-Data-Block-Hash",
      "X-Data-As-Of",
      "X-Data-Head",
      "X-Data-From-Block",
      "X-Data-Positions-From-Block",
      "X-Data-Swap-Share",
      "X-Data-Stale",
      "X-Session-Id",
      "X-Ignored-Parameters",
      "X-Total-Count",
      "Link",
      "ETag",
      "RateLimit-Policy",
      "RateLimit",
    ]);
    expect(
      Object.keys(resolvePath(document, ["components", "responses", "RateLimited", "headers"]) as object),
    ).to.deep.equal(["X-Session-Id", "Retry-After", "RateLimit-Policy", "RateLimit"]);
  });

  it("requires the API key, and names both hosts of a sold endpoint", () => {
    expect(resolvePath(document, ["components", "securitySchemes", "ApiKey"])).to.deep.equal({
      type: "apiKey",
      in: "header",
      name: "X-API-KEY",
    });
    expect(document.security).to.deep.equal([{ ApiKey: [] }]);
    const hosted = toOpenApi(samples, { serverUrl: "https://a.test", payUrl: "https://b.test" });
    expect(findOpenApiErrors(hosted)).to.deep.equal([]);
    expect(hosted.servers).to.deep.equal([{ url: "https://a.test" }]);
    expect([0, 1].map((at) => partOf(sampleItem, ["servers", at, "url"], hosted))).to.deep.equal([
      "https://a.test",
      "https://b.test",
    ]);
    expect(partOf(sampleItem, ["x-payment"])).to.deep.equal({
      protocol: "x402",
      version: 2,
      priceUsd: 0.05,
    });
    expect(partOf(sampleList, [], hosted)).to.not.have.any.keys("servers", "x-payment");
  });

  it("declares the stream of a live table, and of no other", () => {
    const content = ["responses", 200, "content", "text/event-stream"];
    expect(partOf(sampleList, content)).to.deep.equal({
      schema: { $ref: "#/components/schemas/EventStream" },
      "x-live": { kind: "list", key: ["poolAddress"] },
    });
    expect(partOf(sampleItem, content)).to.equal(undefined);
  });
});
