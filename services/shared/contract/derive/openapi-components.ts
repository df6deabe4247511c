import { type ErrorCode, HTTP_STATUS } from "../../errors.ts";
import type { FORMAT_MEDIA_TYPES } from "../format.ts";

const HEADERS = {
  "X-Data-Block": {
    description: "Block or slot that the response was made from.",
    schema: { type: "integer", format: "int64" },
  },
  "X-Data-Block-Hash": {
    description: "Hash of that block: another one at the same number says that the chain was reorganised.",
    schema: { type: "string" },
  },
  "X-Data-As-Of": { description: "Time of that block, ISO 8601 UTC.", schema: { type: "string" } },
  "X-Data-Head": {
    description:
      "Only of an answer about an earlier block (at_block, at_time), which the three headers before name: the indexed head when the answer was made.",
    schema: { type: "integer", format: "int64" },
  },
  "X-Data-From-Block": {
    description: "First indexed block: numbers say nothing about what lies before.",
    schema: { type: "integer", format: "int64" },
  },
  "X-Data-Positions-From-Block": {
    description:
      "Only of a liquidity provider's summary: from this block on all LP positions of the wallet are known. Absent while those older than the index are yet to be read; until then totals are null.",
    schema: { type: "integer", format: "int64" },
  },
  "X-Data-Swap-Share": {
    description:
      "Only of Solana's trades and candles: which share of the cluster's swaps of the last hour the indexed programs made, 0 to 1. Swaps of all other programs are counted by a rule of balances (of an owner that did not sign one token went up and another down); their rows and volumes are in no answer. Absent until some were counted, and where only the indexed programs are read.",
    schema: { type: "number" },
  },
  "X-Data-Stale": {
    description:
      "Only where part of the answer is older than its block allows: what, and its age in seconds, as in `prices; age=123` (lending while evm-dex returns no prices).",
    schema: { type: "string" },
  },
  "X-Session-Id": {
    description: "Identity of this request, the session of an error.",
    schema: { type: "string" },
  },
  "X-Ignored-Parameters": {
    description: "Query parameters the endpoint does not know, comma-separated and percent-encoded.",
    schema: { type: "string" },
  },
  "X-Total-Count": {
    description: "Paged lists: rows of all pages together, where that is known.",
    schema: { type: "integer", format: "int64" },
  },
  Link: {
    description: 'Paged lists: the next page, as in `</evm/…?offset=100>; rel="next"`; absent on the last.',
    schema: { type: "string" },
  },
  ETag: { description: "Weak validator of the data version, for If-None-Match.", schema: { type: "string" } },
  "Retry-After": {
    description: "Seconds to wait before trying again.",
    schema: { type: "integer", minimum: 0 },
  },
  "RateLimit-Policy": {
    description:
      'Limits of the key, by name: `q` requests in `w` seconds, as in `"burst";q=200;w=2, "daily";q=5000;w=86400`. Absent where there are none.',
    schema: { type: "string" },
  },
  RateLimit: {
    description:
      'What is left of each limit: `r` requests, and no more within `t` seconds, as in `"burst";r=199;t=1, "daily";r=4999;t=3600`.',
    schema: { type: "string" },
  },
  "PAYMENT-REQUIRED": {
    description: "The payment details of the body, as base64 JSON.",
    schema: { type: "string" },
  },
} as const;

type HeaderName = keyof typeof HEADERS;

function headerRefs(names: readonly HeaderName[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** Headers of a 200. */
export function successHeaders(): Record<string, unknown> {
  return headerRefs([
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
}

/** Errors that any endpoint can return, in order of status. */
const ERRORS: Readonly<Record<ErrorCode, { readonly name: string; readonly description: string }>> = {
  bad_request: {
    name: "BadRequest",
    description:
      "A required parameter is missing, or one breaks its rule; the message names parameter, rule and value.",
  },
  unauthorized: { name: "Unauthorized", description: "No API key, or an unknown, expired or revoked one." },
  payment_required: {
    name: "PaymentRequired",
    description:
      "On the pay-per-request host: no valid payment came with the request; the body carries the payment details.",
  },
  forbidden: {
    name: "Forbidden",
    description: "The key has no right to this family of endpoints, or is suspended.",
  },
  not_found: { name: "NotFound", description: "No such path, or nothing is known of the pool or vault." },
  request_timeout: {
    name: "RequestTimeout",
    description: "The answer took longer than the service's deadline.",
  },
  rate_limited: {
    name: "RateLimited",
    description:
      "Too many requests with this key, or too many from this address that had to be refused; Retry-After is the true wait.",
  },
  internal: {
    name: "InternalServerError",
    description: "The service failed; the session names the request in its log.",
  },
  unavailable: { name: "ServiceUnavailable", description: "The data cannot be served at the moment." },
  http_version_not_supported: {
    name: "HttpVersionNotSupported",
    description: "The request line names a version of HTTP other than 1.0 and 1.1.",
  },
};

/** A generated client cannot choose its HTTP version. */
const UNDOCUMENTED_CODES: ReadonlySet<ErrorCode> = new Set(["http_version_not_supported"]);
const DOCUMENTED = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => !UNDOCUMENTED_CODES.has(code));

/** References to the error responses of an operation; `paid` adds 402. */
export function errorResponses(paid: boolean): Record<string, unknown> {
  return errorResponsesOf(...DOCUMENTED.filter((code) => paid || code !== "payment_required"));
}

/** References to the responses of these errors, by status. */
export function errorResponsesOf(...codes: readonly (typeof DOCUMENTED)[number][]): Record<string, unknown> {
  return Object.fromEntries(
    codes.map((code) => [HTTP_STATUS[code], { $ref: `#/components/responses/${ERRORS[code].name}` }]),
  );
}

function errorComponent(code: ErrorCode): [string, unknown] {
  const headers: HeaderName[] = ["X-Session-Id"];
  if (code === "rate_limited" || code === "unavailable") headers.push("Retry-After");
  if (code === "rate_limited") headers.push("RateLimit-Policy", "RateLimit");
  if (code === "payment_required") headers.push("PAYMENT-REQUIRED");
  const schema = code === "payment_required" ? "PaymentRequired" : "Error";
  const component = {
    description: ERRORS[code].description,
    headers: headerRefs(headers),
    content: { "application/json": { schema: { $ref: `#/components/schemas/${schema}` } } },
  };
  return [ERRORS[code].name, component];
}

const CELL = {
  description:
    "One value. Integers above 2^53 are decimal strings, a DateTime is ISO 8601 UTC text, an unknown value is null.",
  anyOf: [
    { type: "string", nullable: true },
    { type: "number" },
    { type: "integer" },
    { type: "boolean" },
    { type: "array", items: {} },
  ],
};

const OBJECT_TABLE = {
  type: "object",
  required: ["columns", "data", "rows"],
  properties: {
    columns: { type: "array", items: { $ref: "#/components/schemas/Column" } },
    data: {
      type: "array",
      items: { type: "object", additionalProperties: { $ref: "#/components/schemas/Cell" } },
    },
    rows: { type: "integer", minimum: 0 },
  },
};

/** The schema of each format besides the specified one. */
export const FORMAT_SCHEMAS: Readonly<Record<keyof typeof FORMAT_MEDIA_TYPES, string>> = {
  objects: "ObjectTable",
  csv: "Csv",
  ndjson: "Ndjson",
  arrow: "Arrow",
  parquet: "Parquet",
};

const SCHEMAS = {
  Table: {
    type: "object",
    required: ["columns", "data", "rows"],
    properties: {
      columns: {
        type: "array",
        description: "Column metadata, in the order of the values in each row.",
        items: { $ref: "#/components/schemas/Column" },
      },
      data: {
        type: "array",
        description: "Rows of values in column order.",
        items: { type: "array", items: { $ref: "#/components/schemas/Cell" } },
      },
      rows: { type: "integer", minimum: 0, description: "Number of rows returned." },
    },
  },
  Column: {
    type: "object",
    required: ["name", "type"],
    properties: {
      name: { type: "string", description: "Column name." },
      type: {
        type: "string",
        description: "Data type of the column, for example String, UInt64 or Nullable(Float64).",
      },
    },
  },
  Cell: CELL,
  ObjectTable: {
    description:
      "A table (in an array where the specified form is one) whose rows are objects, by column name.",
    anyOf: [OBJECT_TABLE, { type: "array", minItems: 1, maxItems: 1, items: OBJECT_TABLE }],
  },
  Csv: {
    type: "string",
    description:
      "RFC 4180 with a header line; null is an empty field, an empty text is quoted, arrays are JSON.",
  },
  Ndjson: { type: "string", description: "One JSON object a line, by column name." },
  Arrow: { type: "string", format: "binary", description: "An Arrow IPC stream of one record batch." },
  Parquet: { type: "string", format: "binary", description: "A Parquet file." },
  EventStream: {
    type: "string",
    description:
      "Server-sent events, each with the id `<chain>-<block>-<hash>-<tag>`: `snapshot` (columns and rows), then `change` (rows added or changed, keys removed), `reorg` (blocks taken back, and the change back), `head` (a block that changed nothing), `error` (the body of an error; the stream goes on, unless it ends) and `end`. The header Last-Event-ID resumes a stream.",
  },
  Error: {
    type: "object",
    properties: {
      error: { type: "string", description: "Stable code of the error.", enum: Object.keys(HTTP_STATUS) },
      message: { type: "string", description: "What went wrong, for a reader." },
      session: { type: "string", description: "Session ID for tracking." },
    },
  },
  PaymentRequired: {
    allOf: [
      { $ref: "#/components/schemas/Error" },
      {
        type: "object",
        properties: {
          x402Version: { type: "integer", enum: [2] },
          resource: { type: "object", description: "What is paid for." },
          accepts: { type: "array", items: { type: "object" }, description: "Payments that are accepted." },
        },
      },
    ],
  },
};

export const SHARED_COMPONENTS = {
  securitySchemes: {
    ApiKey: { type: "apiKey", in: "header", name: "X-API-KEY" },
  },
  headers: HEADERS,
  schemas: SCHEMAS,
  responses: {
    NotModified: {
      description: "The data has not changed since the ETag sent in If-None-Match.",
      headers: headerRefs(["X-Session-Id", "ETag"]),
    },
    ...Object.fromEntries(DOCUMENTED.map(errorComponent)),
  },
};
