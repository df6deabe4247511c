import type { Endpoint } from "../endpoint.ts";
import { FORMAT_MEDIA_TYPES, FORMAT_PARAM } from "../format.ts";
import { type OpenApiOptions, toOpenApi } from "./openapi.ts";
import { rowSchemas } from "./openapi-rows.ts";
import { typeNameOf } from "./type-name.ts";

type Json = Record<string, unknown>;

interface Document extends Json {
  readonly paths: Readonly<Record<string, { readonly get: Operation }>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

interface Operation extends Json {
  readonly parameters?: readonly Json[];
  readonly responses: Readonly<Record<string, Json>>;
}

/** What tables of rows by name need of the shared schemas. */
const SHARED = ["Column", "Error", "PaymentRequired"];

/**
 * The document in OpenAPI 3.0 with rows by name alone (`format=objects`), each property of its column's type: for generators
 * that know no tuples and take the first media type of an answer, such as openapi-generator.
 */
export function toObjectsOpenApi(endpoints: readonly Endpoint[], options: OpenApiOptions = {}): Json {
  const { paths, components, ...rest } = toOpenApi(endpoints, options) as Document;
  const byPath = new Map(endpoints.map((endpoint) => [endpoint.path, endpoint]));
  const shared = Object.entries(components.schemas).filter(([name]) => SHARED.includes(name));
  return {
    ...rest,
    paths: Object.fromEntries(
      Object.entries(paths).map(([path, item]) => {
        const endpoint = byPath.get(path);
        return [path, endpoint === undefined ? item : { get: withObjects(endpoint, item.get) }];
      }),
    ),
    components: {
      ...components,
      schemas: Object.assign(Object.fromEntries(shared), ...endpoints.map(objectSchemas)),
    },
  };
}

function withObjects(endpoint: Endpoint, operation: Operation): Operation {
  const { 200: success, ...others } = operation.responses;
  const table = { $ref: `#/components/schemas/${typeNameOf(endpoint)}ObjectTable` };
  const schema =
    endpoint.body === "array" ? { type: "array", minItems: 1, maxItems: 1, items: table } : table;
  const content = { [FORMAT_MEDIA_TYPES.objects]: { schema } };
  const parameters = (operation.parameters ?? []).map((parameter) =>
    parameter.name === FORMAT_PARAM ? onlyObjects(parameter) : parameter,
  );
  return { ...operation, parameters, responses: { 200: { ...success, content }, ...others } };
}

/** Required, since many generators send no Accept. */
function onlyObjects(parameter: Json): Json {
  return {
    ...parameter,
    description: "The only form that this document describes.",
    required: true,
    schema: { type: "string", enum: ["objects"] },
  };
}

function objectSchemas(endpoint: Endpoint): Json {
  const name = typeNameOf(endpoint);
  const schemas = rowSchemas(endpoint);
  const table = schemas[`${name}ObjectTable`] as Json & { readonly prefixItems?: readonly unknown[] };
  return {
    [`${name}Object`]: toOpenApi30(schemas[`${name}Object`]),
    // The array around a table stands where it is used: generators then name its type.
    [`${name}ObjectTable`]: toOpenApi30(table.prefixItems?.[0] ?? table),
  };
}

/**
 * A schema of 3.1 as 3.0 can say it: null by `nullable`; a tuple as an array of its length; what may be a number or text (64 bits)
 * as any value, since alternatives of plain types come out of generators as types of their own.
 */
function toOpenApi30(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toOpenApi30);
  if (typeof value !== "object" || value === null) return value;
  const { type, prefixItems, title, ...rest } = value as Json;
  const made = Object.fromEntries(
    Object.entries(rest).map(([key, inner]) => [key, key.startsWith("x-") ? inner : toOpenApi30(inner)]),
  );
  if (prefixItems !== undefined) made.items = {};
  if (typeof title === "string") made.title = title;
  if (!Array.isArray(type)) return type === undefined ? made : { type: toOpenApi30(type), ...made };
  const types = type.filter((each) => each !== "null");
  const isNullable = types.length < type.length;
  if (types.length > 1) {
    const { minimum: _, pattern: __, ...any } = made;
    return any;
  }
  return { type: types[0], ...made, ...(isNullable && { nullable: true }) };
}
