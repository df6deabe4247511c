import type { Column } from "../../../services/shared/contract/column.ts";
import { isRequired } from "../../../services/shared/contract/define.ts";
import { describeAnswer } from "../../../services/shared/contract/derive/markdown.ts";
import {
  describeParameters,
  isOrderList,
  type ParameterDoc,
  type ParameterSchema,
} from "../../../services/shared/contract/derive/parameters.ts";
import type { Endpoint } from "../../../services/shared/contract/endpoint.ts";
import { FORMAT_PARAM } from "../../../services/shared/contract/format.ts";
import type { Answer } from "../asking.ts";
import { readInteger, readNames, toQueryValue } from "./arguments.ts";
import { renderTable } from "./table-text.ts";
import type { Arguments, CallContext, Tool } from "./tool.ts";

/** Rows of a list that were not asked for by `limit`: the API's own 100 are many tokens. */
export const DEFAULT_ROWS = 20;
const MAX_OFFSET = 100_000_000;

/** `/evm/dexb/v3/pool` → `evm_dexb_v3_pool`, `/api/v1/solana/tokens` → `solana_tokens`. */
export function toolNameOf({ path }: Pick<Endpoint, "path">): string {
  return path.replace(/^\/(api\/v1\/)?/, "").replaceAll(/[/-]/g, "_");
}

export interface EndpointToolOptions {
  /** What a call costs; such a tool has all that the endpoint answers, and as many rows by default as it has. */
  readonly price?: string;
}

/** The tool of one endpoint: its parameters, fewer rows by default, and a choice of columns. */
export function createEndpointTool(endpoint: Endpoint, { price }: EndpointToolOptions = {}): Tool {
  // One name for one thing: aliases are for callers of the HTTP API.
  const docs = describeParameters(endpoint).filter(
    ({ name, aliasOf }) => name !== FORMAT_PARAM && aliasOf === undefined,
  );
  const required = docs.filter(({ name }) => isRequired(endpoint, name)).map(({ name }) => name);
  const limitDoc = docs.find(({ name }) => name === "limit");
  const isPaged = limitDoc !== undefined;
  const defaultRows =
    price === undefined ? DEFAULT_ROWS : Number((limitDoc?.schema as ParameterSchema | undefined)?.default);
  const shown = price === undefined ? {} : { maxCharacters: Number.POSITIVE_INFINITY };
  const isList = endpoint.rowOrder !== "one row";
  const properties = {
    ...Object.fromEntries(docs.map((doc) => [doc.name, toProperty(doc, defaultRows)])),
    ...(isList && !isPaged
      ? { offset: { type: "integer", minimum: 0, default: 0, description: "Rows to skip." } }
      : {}),
    columns: {
      type: "array",
      items: { type: "string" },
      description: "Columns to return; all by default. Fewer cost fewer tokens.",
    },
  };
  const names = endpoint.columns.map(({ name }) => name);

  const call = async (args: Arguments, { ask, clock }: CallContext): Promise<string> => {
    const columns = readNames(args, "columns", names);
    const query: Record<string, string> = {};
    for (const { name } of docs) {
      const value = toQueryValue(name, args[name]);
      if (value !== undefined) query[name] = value;
    }
    if (isPaged) {
      query.limit ??= String(defaultRows);
      const answer = await ask(endpoint, query);
      const [limit, offset] = [Number(query.limit), Number(query.offset ?? 0)];
      return renderTable(answer, { ...shown, columns, offset, limit, nowMs: clock.nowMs() });
    }
    const offset = isList ? readInteger(args, "offset", { fallback: 0, min: 0, max: MAX_OFFSET }) : 0;
    const answer = skipRows(await ask(endpoint, query), offset);
    return renderTable(answer, { ...shown, columns, offset, limit: undefined, nowMs: clock.nowMs() });
  };

  return {
    name: toolNameOf(endpoint),
    title: endpoint.summary,
    description: `${price === undefined ? "" : `Costs ${price} a call. `}${describe(endpoint)}`,
    inputSchema: {
      type: "object",
      properties,
      ...(required.length === 0 ? {} : { required }),
      additionalProperties: false,
    },
    call,
  };
}

/** An endpoint without pages answers with all rows; those that a longer answer had no room for are skipped to here. */
function skipRows(answer: Answer, offset: number): Answer {
  return { ...answer, rows: answer.rows.slice(offset), total: answer.rows.length };
}

function toProperty({ name, schema, description }: ParameterDoc, defaultRows: number): object {
  const { format: _format, minLength: _min, maxLength: _max, items, ...rest } = schema as ParameterSchema;
  if (name === "limit") return { ...rest, default: defaultRows, description };
  // The names stand in the tool's description, which lists the columns; here they would be there three times.
  return {
    ...rest,
    ...(items === undefined ? {} : { items: { type: items.type } }),
    description: isOrderList({ schema }) ? orderText(name) : description,
  };
}

function orderText(name: string): string {
  return `Columns to order by, ${name.slice("order_".length)}ending, the first one first. An empty item leaves its place to the other list.`;
}

function describe(endpoint: Endpoint): string {
  const parts = [
    `${endpoint.summary}.`,
    endpoint.description,
    `${describeAnswer(endpoint).replace(/ Media type.*$/, "")}`,
    `Columns: ${endpoint.columns.map(nameColumn).join(", ")}.`,
    describeSortable(endpoint.columns),
    "explain_column has their formulas.",
  ];
  return parts.filter((part) => part !== undefined && part !== "").join(" ");
}

function nameColumn({ name, unit }: Column): string {
  return unit === undefined ? name : `${name} (${unit})`;
}

/** Which columns can be ordered by, in the shorter of two ways. */
function describeSortable(columns: readonly Column[]): string | undefined {
  const sortable = columns.filter((column) => column.sortable === true).map(({ name }) => name);
  if (sortable.length === 0) return undefined;
  const others = columns.filter((column) => column.sortable !== true).map(({ name }) => name);
  if (others.length === 0) return "Ordered by any of them.";
  return others.length < sortable.length
    ? `Ordered by any of them but ${others.join(", ")}.`
    : `Ordered by ${sortable.join(", ")}.`;
}
