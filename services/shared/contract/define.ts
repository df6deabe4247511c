import type { Column } from "./column.ts";
import type { Endpoint, ParamShape } from "./endpoint.ts";
import { FORMAT_PARAM } from "./format.ts";
import { parseType } from "./type.ts";

const PATH = /^(\/[a-z0-9]+(-[a-z0-9]+)*)+$/;
const PARAM_NAME = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/;
const COLUMN_NAME = /^[a-z][A-Za-z0-9]*$/;
const RESERVED_PARAMS = new Set(["order", "order_asc", "order_desc"]);

/**
 * Checks a declaration and preserves its literal types. Throws a plain Error on a contradiction: a malformed path or
 * name, a column twice, an alias of nothing, a body that does not fit its family.
 */
export function defineEndpoint<const P extends ParamShape, const C extends readonly Column[]>(
  declaration: Endpoint<P, C>,
): Endpoint<P, C> {
  const fault = findFault(declaration as unknown as Endpoint);
  if (fault !== undefined) throw new Error(`Cannot declare ${declaration.path}: ${fault}.`);
  return Object.freeze(declaration);
}

function findFault(endpoint: Endpoint): string | undefined {
  if (!PATH.test(endpoint.path)) return "the path is not /lower-case/words";
  if (endpoint.columns.length === 0) return "it has no columns";
  if ((endpoint.body === "object") !== (endpoint.family === "solana")) {
    return `the body of ${endpoint.family} is not ${endpoint.body}`;
  }
  return (
    findColumnFault(endpoint.columns) ??
    findLiveFault(endpoint) ??
    findParamFault(endpoint) ??
    findAliasFault(endpoint)
  );
}

function findColumnFault(columns: readonly Column[]): string | undefined {
  const names = new Set<string>();
  for (const { name, type, description, nullable } of columns) {
    if (!COLUMN_NAME.test(name)) return `column ${name} is not camelCase`;
    if (names.has(name)) return `column ${name} is declared twice`;
    if (parseType(type) === undefined) return `column ${name} has the unreadable type ${type}`;
    if (nullable && type.startsWith("Nullable(")) return `column ${name} declares nullable twice`;
    if (!description.endsWith(".")) return `the description of column ${name} is not a sentence`;
    names.add(name);
  }
  return undefined;
}

function findLiveFault({ live, columns, rowOrder }: Endpoint): string | undefined {
  if (live === undefined) return undefined;
  if (live.kind === "row") return rowOrder === "one row" ? undefined : "its stream tells one row of several";
  const named = [...live.key, ...(live.kind === "appends" ? [live.block] : (live.clocks ?? []))];
  const unknown = named.find((name) => !columns.some((column) => column.name === name));
  return unknown === undefined ? undefined : `its stream reads ${unknown}, which is no column`;
}

function findParamFault(endpoint: Endpoint): string | undefined {
  for (const name of [...Object.keys(endpoint.params), ...Object.keys(endpoint.aliases ?? {})]) {
    if (!PARAM_NAME.test(name)) return `parameter ${name} is not snake_case`;
    if (name === FORMAT_PARAM) return `parameter ${name} is one of every endpoint`;
    if (RESERVED_PARAMS.has(name)) return `parameter ${name} is derived from the sortable columns`;
  }
  return undefined;
}

function findAliasFault({ params, aliases }: Endpoint): string | undefined {
  for (const [alias, name] of Object.entries(aliases ?? {})) {
    if (!Object.hasOwn(params, name)) return `alias ${alias} names no parameter`;
    if (Object.hasOwn(params, alias)) return `alias ${alias} is also a parameter`;
  }
  return undefined;
}

/** Preserves the literal types of columns that several endpoints share. */
export function defineColumns<const C extends readonly Column[]>(columns: C): C {
  return columns;
}

type Sortable<C extends readonly Column[]> = { readonly [K in keyof C]: C[K] & { readonly sortable: true } };

/** The same columns, each allowed in order_asc and order_desc. */
export function sortable<const C extends readonly Column[]>(columns: C): Sortable<C> {
  return columns.map((column) => ({ ...column, sortable: true })) as unknown as Sortable<C>;
}

/** Whether a request must send this parameter, or its alias, under which either is optional in the documents. */
export function isRequired({ params }: Pick<Endpoint, "params">, name: string): boolean {
  return params[name]?.safeParse(undefined).success === false;
}

/** Names usable in order_asc and order_desc, in column order; empty where the endpoint takes no order. */
export function sortableNames(endpoint: Endpoint): string[] {
  return endpoint.columns.filter((column) => column.sortable === true).map((column) => column.name);
}
