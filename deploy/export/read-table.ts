import type { Cell, Column } from "../../services/shared/contract/column.ts";
import type { TableShape } from "../../services/shared/contract/endpoint.ts";

/** A running server, and who asks it. */
export interface Server {
  readonly url: string;
  readonly key: string;
}

/** What the server says of an endpoint. */
export interface ServedTable extends TableShape {
  /** The largest page; undefined where the table is not paged. */
  readonly maxLimit: number | undefined;
}

interface OpenApi {
  readonly paths: Readonly<Record<string, { readonly get: Operation } | undefined>>;
}
interface Operation {
  readonly parameters?: readonly { name: string; schema: { maximum?: number } }[];
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>;
}

/** Reads the columns of an endpoint from the server's own OpenAPI document, so that any version can be exported from. */
export async function describeTable({ url }: Server, path: string): Promise<ServedTable> {
  const answer = await fetch(`${url}/openapi.json`);
  if (answer.status !== 200) throw new Error(`${url}/openapi.json answered ${answer.status}.`);
  const operation = ((await answer.json()) as OpenApi).paths[path]?.get;
  const columns = findColumns(operation?.responses["200"]?.content);
  if (operation === undefined || columns === undefined)
    throw new Error(`${url} has no table at ${path}: ${url}/docs lists them.`);
  const limit = operation.parameters?.find(({ name }) => name === "limit");
  return { path, columns, maxLimit: limit?.schema.maximum };
}

function findColumns(value: unknown): readonly Column[] | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if ("x-columns" in value) return value["x-columns"] as readonly Column[];
  for (const inner of Object.values(value)) {
    const found = findColumns(inner);
    if (found !== undefined) return found;
  }
  return undefined;
}

export interface Page {
  readonly rows: readonly (readonly Cell[])[];
  /** X-Data-Block. */
  readonly block: string | null;
}

/** All rows, page by page, from the query's own offset on; its own limit bounds all rows together. */
export async function* readPages(
  server: Server,
  { table, query }: { readonly table: ServedTable; readonly query: URLSearchParams },
): AsyncGenerator<Page> {
  if (table.maxLimit === undefined) {
    yield await readPage(server, `${table.path}?${query}`);
    return;
  }
  let left = Number(query.get("limit") ?? Number.POSITIVE_INFINITY);
  let offset = Number(query.get("offset") ?? 0);
  while (left > 0) {
    const limit = Math.min(table.maxLimit, left);
    const paged = new URLSearchParams(query);
    paged.set("limit", String(limit));
    paged.set("offset", String(offset));
    const page = await readPage(server, `${table.path}?${paged}`);
    yield page;
    if (page.rows.length < limit) return;
    left -= limit;
    offset += limit;
  }
}

async function readPage({ url, key }: Server, target: string): Promise<Page> {
  const answer = await fetch(`${url}${target}`, { headers: { "X-API-KEY": key } });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${target} answered ${answer.status}: ${text}`);
  const body = JSON.parse(text);
  const { data } = (Array.isArray(body) ? body[0] : body) as { data: Cell[][] };
  return { rows: data, block: answer.headers.get("x-data-block") };
}
