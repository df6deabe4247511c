import {
  describeParameters,
  type ParameterSchema,
  typedExample,
} from "../../../services/shared/contract/derive/parameters.ts";
import type { Endpoint } from "../../../services/shared/contract/endpoint.ts";

export type Extensions = Readonly<Record<string, unknown>>;

const DRAFT = "https://json-schema.org/draft/2020-12/schema";

/**
 * The extensions of an offer: how to request the endpoint (extension bazaar, from which facilitators list endpoints for
 * sale), and that a payment may have an identifier. Derived from the endpoint's declaration.
 */
export function declareExtensions(endpoint: Endpoint): Extensions {
  return { bazaar: declareDiscovery(endpoint), "payment-identifier": declareIdentifier() };
}

function declareDiscovery(endpoint: Endpoint): unknown {
  const parameters = describeParameters(endpoint);
  const examples = parameters.flatMap((doc) =>
    doc.required && doc.example !== undefined ? [[doc.name, typedExample(doc, doc.example)]] : [],
  );
  const columns = endpoint.columns.map(({ name, type }) => ({ name, type }));
  const table = { columns, data: [], rows: 0 };
  return {
    info: {
      input: { type: "http", method: "GET", queryParams: Object.fromEntries(examples) },
      output: { type: "json", example: endpoint.body === "array" ? [table] : table },
    },
    schema: {
      $schema: DRAFT,
      type: "object",
      properties: {
        input: {
          type: "object",
          properties: {
            type: { type: "string", const: "http" },
            method: { type: "string", enum: ["GET"] },
            queryParams: {
              type: "object",
              properties: Object.fromEntries(
                parameters.map(({ name, schema }) => [name, toJsonSchema(schema)]),
              ),
              required: parameters.filter(({ required }) => required).map(({ name }) => name),
            },
          },
          required: ["type", "method"],
          additionalProperties: false,
        },
        output: {
          type: "object",
          properties: { type: { type: "string" }, example: { type: ["object", "array"] } },
          required: ["type"],
        },
      },
      required: ["input"],
    },
  };
}

/** Removes OpenAPI formats that JSON Schema does not have. */
function toJsonSchema({ format: _format, ...schema }: ParameterSchema): unknown {
  return schema;
}

function declareIdentifier(): unknown {
  return {
    info: { required: false },
    schema: {
      $schema: DRAFT,
      type: "object",
      properties: {
        required: { type: "boolean" },
        id: { type: "string", minLength: 16, maxLength: 128, pattern: "^[a-zA-Z0-9_-]+$" },
      },
      required: ["required"],
    },
  };
}
