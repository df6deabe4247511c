import { Ajv, type ErrorObject } from "ajv";

/**
 * A JSON Schema of the part of OpenAPI 3.0.0 that our document uses; unknown keys are errors. For tests: no dependency
 * carries a machine-readable schema of the standard.
 */
const text = { type: "string", minLength: 1 };
const refTo = (kind: string) => ({
  type: "object",
  properties: { $ref: { type: "string", pattern: `^#/components/${kind}/[A-Za-z0-9._-]+$` } },
  required: ["$ref"],
  additionalProperties: false,
});
const closed = (properties: Record<string, unknown>, required: string[] = []) => ({
  type: "object",
  properties,
  required,
  patternProperties: { "^x-": {} },
  additionalProperties: false,
});
const mapOf = (value: unknown, key = "^[A-Za-z0-9._-]+$") => ({
  type: "object",
  patternProperties: { [key]: value },
  additionalProperties: false,
});

const schemaObject = closed({
  type: { enum: ["string", "integer", "number", "boolean", "array", "object"] },
  format: { enum: ["int64", "binary"] },
  description: text,
  enum: { type: "array", minItems: 1, uniqueItems: true },
  minimum: { type: "number" },
  maximum: { type: "number" },
  minLength: { type: "integer", minimum: 0 },
  maxLength: { type: "integer", minimum: 0 },
  minItems: { type: "integer", minimum: 0 },
  maxItems: { type: "integer", minimum: 0 },
  pattern: { type: "string", format: "regex" },
  nullable: { type: "boolean" },
  default: {},
  items: { $ref: "#/definitions/schema" },
  properties: mapOf({ $ref: "#/definitions/schema" }),
  additionalProperties: { $ref: "#/definitions/schema" },
  required: { type: "array", items: text, minItems: 1, uniqueItems: true },
  allOf: { type: "array", items: { $ref: "#/definitions/schema" }, minItems: 1 },
  anyOf: { type: "array", items: { $ref: "#/definitions/schema" }, minItems: 1 },
});
const header = closed({ description: text, schema: { $ref: "#/definitions/schema" } }, ["schema"]);
const response = closed(
  {
    description: text,
    headers: mapOf(refTo("headers")),
    content: mapOf(
      closed({ schema: { $ref: "#/definitions/schema" } }, ["schema"]),
      "^(application|text)/[a-z0-9.+-]+(; ?[a-z]+=[a-z0-9-]+)*$",
    ),
  },
  ["description"],
);
const parameter = closed(
  {
    name: text,
    in: { const: "query" },
    description: text,
    required: { type: "boolean" },
    allowEmptyValue: { type: "boolean" },
    style: { const: "form" },
    explode: { type: "boolean" },
    schema: { $ref: "#/definitions/schema" },
    example: {},
  },
  ["name", "in", "required", "schema"],
);
const server = closed({ url: text, description: text }, ["url"]);
const operation = closed(
  {
    operationId: { type: "string", pattern: "^[a-zA-Z0-9]+$" },
    tags: { type: "array", items: text },
    summary: text,
    description: text,
    servers: { type: "array", items: server, minItems: 1 },
    // Empty: no key is needed.
    security: { type: "array", maxItems: 0 },
    parameters: { type: "array", items: parameter, uniqueItems: true },
    responses: mapOf({ anyOf: [refTo("responses"), response] }, "^[1-5]\\d\\d$"),
  },
  ["operationId", "responses"],
);

const DOCUMENT = {
  definitions: { schema: { anyOf: [refTo("schemas"), schemaObject] } },
  ...closed(
    {
      openapi: { const: "3.0.0" },
      info: closed(
        {
          ...{ title: text, version: text, description: text },
          ...{ contact: closed({ name: text }), license: closed({ name: text, url: text }, ["name"]) },
        },
        ["title", "version"],
      ),
      servers: { type: "array", items: server },
      security: { type: "array", items: mapOf({ type: "array", items: text }) },
      tags: { type: "array", items: closed({ name: text, description: text }, ["name"]) },
      paths: mapOf(closed({ get: operation }), "^/[a-z0-9/-]+$"),
      components: closed({
        securitySchemes: mapOf(
          closed({ type: { const: "apiKey" }, in: { const: "header" }, name: text }, ["type", "in", "name"]),
        ),
        headers: mapOf(header),
        schemas: mapOf(schemaObject),
        responses: mapOf(response),
      }),
    },
    ["openapi", "info", "paths"],
  ),
};

/** Errors of a document: against the schema above, broken references, duplicate operation ids and parameters. */
export function findOpenApiErrors(document: unknown): string[] {
  const ajv = new Ajv({ strict: false, allErrors: true, formats: { regex: isPattern } });
  const validate = ajv.compile(DOCUMENT);
  const faults = validate(document) ? [] : (validate.errors ?? []).map(shown);
  const text = JSON.stringify(document);
  for (const [, pointer] of text.matchAll(/"\$ref":"#([^"]+)"/g)) {
    if (resolvePath(document, (pointer as string).split("/").slice(1)) === undefined)
      faults.push(`${pointer} has no target`);
  }
  const ids = [...text.matchAll(/"operationId":"([^"]+)"/g)].map(([, id]) => id);
  for (const id of new Set(ids))
    if (ids.indexOf(id) !== ids.lastIndexOf(id)) faults.push(`${id} is used twice`);
  for (const [path, item] of Object.entries((document as { paths: Record<string, Item> }).paths)) {
    const names = (item.get.parameters ?? []).map((one) => one.name);
    if (new Set(names).size !== names.length) faults.push(`${path} names a parameter twice`);
  }
  return faults;
}

interface Item {
  readonly get: { readonly parameters?: readonly { readonly name: string }[] };
}

function shown(error: ErrorObject): string {
  return `${error.instancePath} ${error.message} ${JSON.stringify(error.params)}`;
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, "u") !== undefined;
  } catch {
    return false;
  }
}

/** The value at a path of keys; undefined where it does not exist. */
export function resolvePath(document: unknown, keys: readonly (string | number)[]): unknown {
  return keys.reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], document);
}
