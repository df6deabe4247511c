import { z } from "zod";
import { sortableNames } from "../define.ts";
import type { Endpoint } from "../endpoint.ts";
import type { ExampleParams } from "../examples.ts";
import { FORMAT_PARAM, formatSchema } from "../format.ts";

/** The part of JSON Schema (OpenAPI 3.0) that parameters use. */
export interface ParameterSchema {
  readonly type: "string" | "integer" | "number" | "boolean" | "array";
  readonly format?: "int64";
  readonly enum?: readonly (string | number)[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: ParameterSchema;
  readonly default?: unknown;
}

export interface ParameterDoc {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
  readonly schema: ParameterSchema;
  /** A value as sent on the wire. */
  readonly example?: string;
  /** A default that the specification names and that is never applied: not the schema's `default`. */
  readonly documentedDefault?: unknown;
  /** The parameter that this name is an alias of. */
  readonly aliasOf?: string;
}

const SCHEMA_KEYS = [
  "type",
  "enum",
  "minimum",
  "maximum",
  "minLength",
  "maxLength",
  "pattern",
  "minItems",
  "maxItems",
  "items",
] as const satisfies readonly (keyof ParameterSchema)[];
const META_KEYS = ["description", "example", "documentedDefault", "default"];
const INT32_MAX = 2 ** 31 - 1;

/** Every query parameter of an endpoint as documents and tests see it: declared ones, their aliases, the order lists, format. */
export function describeParameters(endpoint: Endpoint): ParameterDoc[] {
  const aliases = Object.entries(endpoint.aliases ?? {});
  const docs: ParameterDoc[] = [];
  for (const [name, schema] of Object.entries(endpoint.params)) {
    const doc = describe(name, schema);
    const alias = aliases.find(([, target]) => target === name)?.[0];
    if (alias === undefined) {
      docs.push(doc);
      continue;
    }
    // Neither name alone is required; OpenAPI 3.0 cannot say "one of both".
    const description = (other: string) =>
      `${doc.description} ${doc.required ? "One" : "Only one"} of this and ${other} is sent.`;
    docs.push({ ...doc, required: false, description: description(alias) });
    docs.push({ ...doc, name: alias, required: false, description: description(name), aliasOf: name });
  }
  const names = sortableNames(endpoint);
  const orders = names.length === 0 ? [] : [orderDoc("asc", names), orderDoc("desc", names)];
  return [...docs, ...orders, describe(FORMAT_PARAM, formatSchema)];
}

/** Zod takes a millisecond for some; pages, tools and documents of a process ask for each several times. */
const described = new WeakMap<z.ZodType, Omit<ParameterDoc, "name">>();

function describe(name: string, schema: z.ZodType): ParameterDoc {
  let doc = described.get(schema);
  if (doc === undefined) {
    doc = derive(name, schema);
    described.set(schema, doc);
  }
  return { name, ...doc };
}

function derive(name: string, schema: z.ZodType): Omit<ParameterDoc, "name"> {
  const json: Record<string, unknown> = z.toJSONSchema(schema, { target: "openapi-3.0", io: "input" });
  rejectUnknownKeys(name, json);
  const published: Record<string, unknown> = {};
  for (const key of SCHEMA_KEYS) if (json[key] !== undefined) published[key] = json[key];
  if (json.items !== undefined) rejectUnknownKeys(name, json.items as object);
  // The bound of exact JSON numbers is not a rule of the parameter.
  if (published.maximum === Number.MAX_SAFE_INTEGER) delete published.maximum;
  if (
    json.type === "integer" &&
    json.enum === undefined &&
    ((published.maximum as number) ?? Infinity) > INT32_MAX
  ) {
    published.format = "int64";
  }
  const absent = schema.safeParse(undefined);
  if (absent.data !== undefined) published.default = absent.data;
  const example = json.example as string | undefined;
  const { documentedDefault } = json;
  return {
    description: String(json.description ?? ""),
    required: !absent.success,
    schema: published as unknown as ParameterSchema,
    ...(example === undefined ? {} : { example }),
    ...(documentedDefault === undefined ? {} : { documentedDefault }),
  };
}

function rejectUnknownKeys(name: string, schema: object): void {
  const unknown = Object.keys(schema).find(
    (key) => !META_KEYS.includes(key) && !SCHEMA_KEYS.includes(key as "type"),
  );
  if (unknown === undefined) return;
  throw new Error(`Cannot describe parameter ${name}: its ${unknown} has no place in the document.`);
}

/** Whether it is order_asc or order_desc, whose items are columns and may be empty. */
export function isOrderList({ schema }: Pick<ParameterDoc, "schema">): boolean {
  return schema.items?.enum !== undefined;
}

function orderDoc(direction: "asc" | "desc", names: readonly string[]): ParameterDoc {
  const other = direction === "asc" ? "order_desc" : "order_asc";
  return {
    name: `order_${direction}`,
    description: `Columns to order by, ${direction}ending, as a comma-separated list. An empty item leaves its position to ${other}; where both fill a position the ascending column comes first. A column may be named only once.`,
    required: false,
    schema: { type: "array", items: { type: "string", enum: [...names, ""] } },
    // Not the column of the other list: a client that fills in every example would send it twice, which is an error.
    example: (direction === "asc" ? names[0] : (names[1] ?? "")) as string,
  };
}

/**
 * The parameters' examples, as sent, which together form one request: the instance's own where it found some, else
 * those of the declarations. An alias has none, since it must not be sent together with its parameter.
 */
export function selectExamples(docs: readonly ParameterDoc[], live?: ExampleParams): Map<string, string> {
  const shown = new Map<string, string>();
  for (const { name, aliasOf, example } of docs) {
    const value = live === undefined ? example : live[name];
    if (aliasOf === undefined && value !== undefined) shown.set(name, value);
  }
  return shown;
}

/** The fewest of these examples that form a request: required parameters, and the chain if it is not the default. */
export function minimalRequest(
  docs: readonly ParameterDoc[],
  examples: ReadonlyMap<string, string>,
): [name: string, value: string][] {
  const needed = docs.filter(({ name, required, schema, aliasOf }) => {
    const hasAlias = docs.some((other) => other.aliasOf === name);
    const isOtherChain = name === "chain_id" && examples.get(name) !== String(schema.default);
    return aliasOf === undefined && (required || hasAlias || isOtherChain);
  });
  return needed.flatMap(({ name }): [string, string][] => {
    const value = examples.get(name);
    return value === undefined ? [] : [[name, value]];
  });
}

/** An example as the typed value a JSON document shows. */
export function typedExample({ schema }: ParameterDoc, example: string): unknown {
  if (schema.type === "array") return example.split(",");
  return schema.type === "string" ? example : JSON.parse(example);
}
