import type { Cell } from "../../shared/contract/column.ts";
import type { DataVersion, Endpoint } from "../../shared/contract/endpoint.ts";
import { parseQuery } from "../../shared/contract/parse.ts";
import { renderTable } from "../../shared/contract/render-table.ts";
import { checkRows } from "../../shared/contract/testkit/check-rows.ts";
import type { HandlerTable } from "../../shared/service/handlers.ts";

export type Query = Readonly<Record<string, string | number | undefined>>;

export interface EndpointResult {
  readonly rows: readonly (readonly Cell[])[];
  readonly version: DataVersion | undefined;
}

/** What a handler returns for a query, parsed and rendered as the service does. */
export async function queryEndpoint(
  handlers: HandlerTable,
  request: { endpoint: Endpoint; query: Query },
): Promise<EndpointResult> {
  const { endpoint, query } = request;
  const sent = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) sent.set(name, String(value));
  const { params } = parseQuery(endpoint, sent.toString());
  const handler = handlers[endpoint.path];
  if (handler === undefined) throw new Error(`${endpoint.path} has no handler.`);
  const { signal } = new AbortController();
  const answer = await handler(params, { session: "test", signal });
  const { data } = JSON.parse(renderTable(endpoint, answer.rows)) as { data: Cell[][] };
  checkRows(endpoint, data);
  return { rows: data, version: answer.version };
}
