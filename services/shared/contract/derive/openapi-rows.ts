import type { Column, ScalarType } from "../column.ts";
import type { Endpoint } from "../endpoint.ts";
import { parseType, type TypeNode } from "../type.ts";
import { typeNameOf } from "./type-name.ts";

/** A schema of JSON Schema 2020-12, as OpenAPI 3.1 has it. */
type Schema31 = Readonly<Record<string, unknown>>;

const NATURAL = "^(0|[1-9][0-9]*)$";
const INTEGER = "^(0|-?[1-9][0-9]*)$";

/** Cells as they are on the wire: integers of 64 bits are texts above 2^53, longer ones always. */
const SCALAR_SCHEMAS: Readonly<Record<ScalarType, Schema31>> = {
  String: { type: "string" },
  Bool: { type: "boolean" },
  UInt8: { type: "integer", minimum: 0, maximum: 255 },
  UInt32: { type: "integer", format: "int64", minimum: 0, maximum: 2 ** 32 - 1 },
  Int32: { type: "integer", format: "int32" },
  UInt64: { type: ["integer", "string"], minimum: 0, pattern: NATURAL },
  Int64: { type: ["integer", "string"], pattern: INTEGER },
  UInt128: { type: "string", pattern: NATURAL },
  UInt256: { type: "string", pattern: NATURAL },
  Float64: { type: "number", format: "double" },
  DateTime: { type: "string", format: "date-time" },
};

/** `type` with null among its types. */
function nullable(schema: Schema31): Schema31 {
  return { ...schema, type: [schema.type, "null"].flat() };
}

function schemaOf(node: TypeNode): Schema31 {
  switch (node.kind) {
    case "scalar":
      return SCALAR_SCHEMAS[node.scalar];
    case "nullable":
      return nullable(schemaOf(node.inner));
    case "array":
      return { type: "array", items: schemaOf(node.inner) };
    case "tuple":
      return tuple(node.items.map(schemaOf));
  }
}

/**
 * An array of just these items, in this order. `maxItems` allows no others: `items` would do so as false, but Spectral's
 * recommended rules want a schema there.
 */
function tuple(items: readonly Schema31[]): Schema31 {
  return { type: "array", prefixItems: items, items: {}, minItems: items.length, maxItems: items.length };
}

/** A cell of a column: its JSON type, null where the column may be null, and what the declaration says of it. */
export function cellSchema(column: Column): Schema31 {
  const { name, type, unit, description } = column;
  const node = parseType(type);
  if (node === undefined) throw new Error(`Cannot describe column ${name}: its type ${type} is malformed.`);
  const cell = schemaOf(node);
  return {
    title: name,
    ...(column.nullable === true ? nullable(cell) : cell),
    description: unit === undefined ? description : `${description} Unit: ${unit}.`,
    "x-type": type,
    ...(unit === undefined ? {} : { "x-unit": unit }),
  };
}

/** The same cell as a property of a row by names: the property's name is its title. */
function propertySchema(column: Column): Schema31 {
  const { title: _, ...schema } = cellSchema(column);
  return schema;
}

const reference = (name: string): Schema31 => ({ $ref: `#/components/schemas/${name}` });

function table(endpoint: Endpoint, row: string): Schema31 {
  const count = endpoint.columns.length;
  const schema = {
    type: "object",
    required: ["columns", "data", "rows"],
    properties: {
      columns: {
        type: "array",
        description: "Column metadata, in the order of the values in each row.",
        items: reference("Column"),
        minItems: count,
        maxItems: count,
      },
      data: { type: "array", items: reference(row) },
      rows: { type: "integer", minimum: 0, description: "Number of rows returned." },
    },
  };
  return endpoint.body === "array" ? tuple([schema]) : schema;
}

/**
 * The schemas of an endpoint's answer: a row as cells and as an object, and the tables that hold them. The row is a tuple
 * with a cell a column, so that what is generated from it knows the type of each column by its place.
 */
export function rowSchemas(endpoint: Endpoint): Readonly<Record<string, Schema31>> {
  const name = typeNameOf(endpoint);
  const { columns, path } = endpoint;
  return {
    [`${name}Row`]: { ...tuple(columns.map(cellSchema)), description: `A row of ${path}, cell by cell.` },
    [`${name}Object`]: {
      type: "object",
      description: `A row of ${path} by the names of its columns (format=objects, and a line of NDJSON).`,
      required: columns.map((column) => column.name),
      properties: Object.fromEntries(columns.map((column) => [column.name, propertySchema(column)])),
    },
    [`${name}Table`]: table(endpoint, `${name}Row`),
    [`${name}ObjectTable`]: table(endpoint, `${name}Object`),
  };
}

/** References to the schemas of an endpoint's tables, by the form of their rows. */
export function tableReferences(endpoint: Endpoint): {
  readonly cells: Schema31;
  readonly objects: Schema31;
} {
  const name = typeNameOf(endpoint);
  return { cells: reference(`${name}Table`), objects: reference(`${name}ObjectTable`) };
}
