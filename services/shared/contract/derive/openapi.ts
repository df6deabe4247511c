import type { Endpoint } from "../endpoint.ts";
import type { Examples } from "../examples.ts";
import { EVENT_STREAM, FORMAT_MEDIA_TYPES } from "../format.ts";
import { columnsTable, describeAnswer } from "./markdown.ts";
import { errorResponses, FORMAT_SCHEMAS, SHARED_COMPONENTS, successHeaders } from "./openapi-components.ts";
import {
  describeParameters,
  isOrderList,
  type ParameterDoc,
  selectExamples,
  typedExample,
} from "./parameters.ts";

export interface OpenApiOptions {
  /** Where the API-key host answers; the document's own origin when absent. */
  readonly serverUrl?: string;
  /** Where the pay-per-request host answers. */
  readonly payUrl?: string;
  /** Examples from this instance's data; other endpoints show the examples of their declarations. */
  readonly examples?: Examples;
  /** Operations of the host besides the endpoints, by path. */
  readonly hostPaths?: Readonly<Record<string, unknown>>;
}

/** Version of the service description, in the specification's words. */
export const API_VERSION = "0.1.0";

const TAGS = {
  "evm-dex": "Pools, chains and DEXes of EVM chains",
  lending: "Lending pools, vaults, markets and curators of EVM chains",
  solana: "Tokens and transactions on Solana",
} as const;

/** The OpenAPI 3.0.0 document of the endpoints. Equal input gives an equal document, key order included. */
export function toOpenApi(
  endpoints: readonly Endpoint[],
  options: OpenApiOptions = {},
): Record<string, unknown> {
  const families = [...new Set(endpoints.map((endpoint) => endpoint.family))];
  return {
    openapi: "3.0.0",
    info: {
      title: "chaintables",
      version: API_VERSION,
      contact: { name: "The operator of this instance" },
      // As package.json says it.
      license: { name: "None: all rights reserved", url: "https://choosealicense.com/no-permission/" },
      description:
        "Read-only queries for on-chain market data, answered as tables: column metadata and rows of values. The examples of an operation's parameters are one request together: of data of this instance where `x-examples-of` says so, else of Base and Solana mainnet.",
    },
    servers: [{ url: options.serverUrl ?? "/" }],
    security: [{ ApiKey: [] }],
    tags: [
      ...families.map((family) => ({ name: family, description: TAGS[family] })),
      ...(options.hostPaths === undefined ? [] : [{ name: "gateway", description: "Keys and health" }]),
    ],
    paths: {
      ...Object.fromEntries(
        endpoints.map((endpoint) => [endpoint.path, { get: operation(endpoint, options) }]),
      ),
      ...options.hostPaths,
    },
    components: SHARED_COMPONENTS,
  };
}

/** `/evm/dexa/v2/fee-metrics` → `getEvmDexaV2FeeMetrics`. */
export function operationId(endpoint: Endpoint): string {
  const words = endpoint.path.split(/[/-]/).filter((word) => word !== "");
  return `get${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("")}`;
}

function operation(endpoint: Endpoint, options: OpenApiOptions): Record<string, unknown> {
  const paid = endpoint.priceUsd !== undefined;
  const description = [endpoint.description, describeAnswer(endpoint)].filter((part) => part !== undefined);
  const docs = describeParameters(endpoint);
  const live = options.examples?.[endpoint.path];
  const examples = selectExamples(docs, live);
  return {
    operationId: operationId(endpoint),
    tags: [endpoint.family],
    summary: endpoint.summary,
    description: description.join("\n\n"),
    ...(paid && options.payUrl !== undefined ? { servers: payServers(options, options.payUrl) } : {}),
    ...(paid ? { "x-payment": { protocol: "x402", version: 2, priceUsd: endpoint.priceUsd } } : {}),
    // Together they form one request: from this instance's data, or mainnet's where it found none.
    "x-examples-of": live === undefined ? "mainnet" : "this instance",
    parameters: docs.map((doc) => parameter(doc, examples.get(doc.name))),
    responses: {
      200: success(endpoint),
      304: { $ref: "#/components/responses/NotModified" },
      ...errorResponses(paid),
    },
  };
}

function payServers(options: OpenApiOptions, payUrl: string): unknown[] {
  return [
    { url: options.serverUrl ?? "/", description: "With an API key" },
    { url: payUrl, description: "With a payment for each request (x402 version 2), without a key" },
  ];
}

function parameter(doc: ParameterDoc, example: string | undefined): Record<string, unknown> {
  const isList = doc.schema.type === "array";
  return {
    name: doc.name,
    in: "query",
    description: doc.description,
    required: doc.required,
    ...(isOrderList(doc) ? { allowEmptyValue: true } : {}),
    ...(isList ? { style: "form", explode: false } : {}),
    schema: doc.schema,
    ...(example === undefined ? {} : { example: typedExample(doc, example) }),
    ...(doc.documentedDefault === undefined ? {} : { "x-documented-default": doc.documentedDefault }),
  };
}

/** The same rows in other forms. The specified one is first: what generated clients take. */
const OTHER_FORMATS = Object.fromEntries(
  Object.entries(FORMAT_MEDIA_TYPES).map(([format, mediaType]) => [
    mediaType,
    { schema: { $ref: `#/components/schemas/${FORMAT_SCHEMAS[format as keyof typeof FORMAT_MEDIA_TYPES]}` } },
  ]),
);

function liveContent({ live }: Endpoint): Record<string, unknown> {
  if (live === undefined) return {};
  return {
    [EVENT_STREAM]: { schema: { $ref: "#/components/schemas/EventStream" }, "x-live": live },
  };
}

function success(endpoint: Endpoint): Record<string, unknown> {
  const table = {
    allOf: [{ $ref: "#/components/schemas/Table" }],
    "x-columns": endpoint.columns.map((column) => ({
      name: column.name,
      type: column.type,
      ...(column.nullable === true ? { nullable: true } : {}),
      ...(column.unit === undefined ? {} : { unit: column.unit }),
      description: column.description,
    })),
  };
  const schema =
    endpoint.body === "array" ? { type: "array", minItems: 1, maxItems: 1, items: table } : table;
  return {
    description: `${endpoint.summary}. Columns, in order:\n\n${columnsTable(endpoint.columns)}`,
    headers: successHeaders(),
    content: { [endpoint.mediaType]: { schema }, ...OTHER_FORMATS, ...liveContent(endpoint) },
  };
}
