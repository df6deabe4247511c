import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import fc from "fast-check";
import type { Cell } from "../../services/shared/contract/column.ts";
import {
  describeParameters,
  minimalRequest,
  selectExamples,
} from "../../services/shared/contract/derive/parameters.ts";
import type { Endpoint } from "../../services/shared/contract/endpoint.ts";
import { renderTable } from "../../services/shared/contract/render-table.ts";
import { randomRows } from "../../services/shared/format/testkit/random-rows.ts";
import { BOOTSTRAP_KEY } from "./gateway.ts";
import type { FakeUpstream } from "./upstream.ts";

/** What a tool has answered. */
export interface ToolAnswer {
  readonly text: string;
  readonly isError: boolean;
}

/** The official client, connected. */
export interface McpClient {
  readonly client: Client;
  call(name: string, args?: Record<string, unknown>): Promise<ToolAnswer>;
  close(): Promise<void>;
}

export async function connectMcp(transport: Transport): Promise<McpClient> {
  const client = new Client({ name: "tests", version: "0" });
  await client.connect(transport);
  return {
    client,
    async call(name, args = {}) {
      const { content, isError } = await client.callTool({ name, arguments: args });
      const [first] = content as { type: string; text: string }[];
      return { text: first?.text ?? "", isError: isError === true };
    },
    close: () => client.close(),
  };
}

export function connectOverHttp(gatewayUrl: string, key: string = BOOTSTRAP_KEY): Promise<McpClient> {
  const requestInit = { headers: { "X-API-KEY": key } };
  // The SDK's own types differ where optional properties are exact.
  return connectMcp(
    new StreamableHTTPClientTransport(new URL(`${gatewayUrl}/mcp`), { requestInit }) as Transport,
  );
}

/** At the pay-per-request host, which asks for no key. */
export function connectToPayHost(
  payUrl: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<McpClient> {
  return connectMcp(
    new StreamableHTTPClientTransport(new URL(`${payUrl}/mcp`), { requestInit: { headers } }) as Transport,
  );
}

/** The block of every table that answerDeclared sends, and its time. */
export const BLOCK = 4_711;
export const BLOCK_TIME = "2026-05-01T11:59:48+00:00";

/** Makes services answer every declared endpoint with these rows; without any, with random ones that are always the same. */
export function answerDeclared(
  services: readonly FakeUpstream[],
  catalogue: readonly Endpoint[],
  rowsOf: (endpoint: Endpoint, query: URLSearchParams) => readonly (readonly Cell[])[] = sampleRows,
): void {
  for (const service of services) {
    service.answer = (req, res) => {
      const url = new URL(req.url ?? "", "http://x");
      const endpoint = catalogue.find(({ path }) => path === url.pathname) as Endpoint;
      const all = rowsOf(endpoint, url.searchParams);
      const [offset, limit] = ["offset", "limit"].map((name) =>
        Number(url.searchParams.get(name) ?? Number.NaN),
      );
      const rows = all.slice(offset || 0, (offset || 0) + (limit || all.length));
      const isPaged = endpoint.params.limit !== undefined;
      res.writeHead(200, {
        "Content-Type": endpoint.mediaType,
        "X-Data-Block": String(BLOCK),
        "X-Data-As-Of": BLOCK_TIME,
        ...(isPaged ? { "X-Total-Count": String(all.length) } : {}),
      });
      res.end(renderTable(endpoint, rows));
    };
  }
}

function sampleRows(endpoint: Endpoint): Cell[][] {
  const samples = fc.sample(randomRows(endpoint), { numRuns: 12, seed: 7 }).flat();
  return endpoint.rowOrder === "one row" ? samples.slice(0, 1) : samples;
}

/** A row with these cells by name, and null in the others. */
export function rowOf(endpoint: Endpoint, cells: Readonly<Record<string, Cell>>): Cell[] {
  const unknown = Object.keys(cells).filter(
    (name) => !endpoint.columns.some((column) => column.name === name),
  );
  if (unknown.length > 0) throw new Error(`${endpoint.path} has no column ${unknown.join(", ")}`);
  return endpoint.columns.map(({ name }) => cells[name] ?? null);
}

/** Arguments that are enough for a request: the examples of what is required. */
export function exampleArguments(endpoint: Endpoint): Record<string, string> {
  const docs = describeParameters(endpoint);
  return Object.fromEntries(minimalRequest(docs, selectExamples(docs)));
}
