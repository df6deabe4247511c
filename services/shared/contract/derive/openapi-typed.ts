import type { Endpoint } from "../endpoint.ts";
import { FORMAT_MEDIA_TYPES } from "../format.ts";
import { type OpenApiOptions, toOpenApi } from "./openapi.ts";
import { rowSchemas, tableReferences } from "./openapi-rows.ts";

type Json = Record<string, unknown>;

/** Schemas of tables of any columns: here each endpoint has its own. */
const UNTYPED = ["Table", "ObjectTable", "Cell"];

/**
 * The same document in OpenAPI 3.1, whose arrays can say what stands at each place: rows are tuples, with the type, unit and
 * nullability of each column. 3.0, which the specification asks for, knows only arrays of cells of any type.
 */
export function toTypedOpenApi(endpoints: readonly Endpoint[], options: OpenApiOptions = {}): Json {
  const { openapi: _, paths, components, ...rest } = toOpenApi(endpoints, options) as Document;
  const responses = new Map(endpoints.map((endpoint) => [endpoint.path, endpoint]));
  const shared = Object.entries(components.schemas).filter(([name]) => !UNTYPED.includes(name));
  const document = {
    openapi: "3.1.0",
    ...rest,
    paths: Object.fromEntries(
      Object.entries(paths).map(([path, item]) => {
        const endpoint = responses.get(path);
        return [path, endpoint === undefined ? item : withTypedTables(endpoint, item)];
      }),
    ),
    components: {
      ...components,
      schemas: Object.assign(Object.fromEntries(shared), ...endpoints.map(rowSchemas)),
    },
  };
  return withNullTypes(document) as Json;
}

interface Document extends Json {
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

interface PathItem {
  readonly get: { readonly responses: Readonly<Record<string, Json>> };
}

function withTypedTables(endpoint: Endpoint, { get }: PathItem): PathItem {
  const { 200: success, ...others } = get.responses;
  const { cells, objects } = tableReferences(endpoint);
  const content = Object.assign({}, success?.content, {
    [endpoint.mediaType]: { schema: cells },
    [FORMAT_MEDIA_TYPES.objects]: { schema: objects },
  });
  return { get: { ...get, responses: { 200: { ...success, content }, ...others } } };
}

/** `nullable: true` of 3.0 as 3.1 says it. Extensions and examples are data and stay. */
function withNullTypes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withNullTypes);
  if (typeof value !== "object" || value === null) return value;
  const { nullable, ...rest } = value as Json;
  const entries = Object.entries(rest).map(([key, inner]) => [
    key,
    key.startsWith("x-") || key === "example" ? inner : withNullTypes(inner),
  ]);
  const made = Object.fromEntries(entries) as Json;
  return nullable === true ? { ...made, type: [made.type, "null"].flat() } : made;
}
