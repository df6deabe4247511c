import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { after, before, it } from "mocha";
import type { Cell } from "../../services/shared/contract/column.ts";
import type { Endpoint } from "../../services/shared/contract/endpoint.ts";
import { FORMATS, type Format, mediaTypeOf } from "../../services/shared/contract/format.ts";
import { readBack } from "../../services/shared/format/testkit/read-back.ts";
import { exportTable } from "../export/export.ts";
import { type Operation, readTables } from "./read-tables.ts";
import type { Stack } from "./stack.ts";

/**
 * Tests of a suite with a running stack: every endpoint of OpenAPI in every format has the same rows, binary ones read by
 * apache-arrow and hyparquet; and whole tables are exported.
 */
export function testFormats(running: () => Stack): void {
  let stack: Stack;
  let folder: string;
  before(async () => {
    stack = running();
    folder = await mkdtemp(join(tmpdir(), "chaintables-formats-"));
  });
  after(async () => {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  const request = (path: string, accept = "*/*") =>
    fetch(`${stack.url}${path}`, { headers: { "X-API-KEY": stack.key, Accept: accept } });

  /** The endpoint as its OpenAPI operation describes it. */
  function endpointOf(path: string, { responses }: Operation): Endpoint {
    const [mediaType = "", specified] = Object.entries(responses["200"]?.content ?? {})[0] ?? [];
    const schema = (specified as { schema: { items?: object } }).schema;
    const columns = ((schema.items ?? schema) as { "x-columns": unknown })["x-columns"];
    const body = schema.items === undefined ? "object" : "array";
    return { path, mediaType, body, columns } as unknown as Endpoint;
  }

  interface Answer {
    readonly block: string | null;
    readonly rows: Cell[][];
  }

  async function ask(
    endpoint: Endpoint,
    query: string,
    format: Format,
    how: "query" | "Accept",
  ): Promise<Answer> {
    const type = mediaTypeOf(endpoint, format);
    const answer =
      how === "query"
        ? await request(`${endpoint.path}?${query}&format=${format}`)
        : await request(`${endpoint.path}?${query}`, type);
    const bytes = Buffer.from(await answer.arrayBuffer());
    const about = `${endpoint.path} as ${format} by ${how}`;
    expect(answer.status, `${about}: ${bytes.subarray(0, 300)}`).to.equal(200);
    expect(answer.headers.get("content-type"), about).to.equal(type);
    expect(answer.headers.get("vary"), about).to.contain("Accept");
    return { block: answer.headers.get("x-data-block"), rows: await readBack(format, { endpoint, bytes }) };
  }

  it("have the same rows in every format, at the same block", async () => {
    const tables = await readTables(stack);
    expect(tables.length).to.be.at.least(32);
    for (const [at, [path, operation]] of tables.entries()) {
      const endpoint = endpointOf(path, operation);
      const pairs = (operation.parameters ?? []).filter(({ example }) => example !== undefined);
      const query = pairs
        .map(({ name, example }) => `${name}=${encodeURIComponent(String(example))}`)
        .join("&");
      const first = await ask(endpoint, query, "json", "query");
      expect(first.rows.length, path).to.be.greaterThan(0);
      for (const [number, format] of FORMATS.entries()) {
        const how = (at + number) % 2 === 0 ? "query" : "Accept";
        const answer = await ask(endpoint, query, format, how);
        // The chain of the stack stands still, but an ingest may have been behind.
        const same = answer.block === first.block ? first : await ask(endpoint, query, "json", "query");
        expect(answer.rows, `${path} as ${format} by ${how}`).to.deep.equal(same.rows);
      }
    }
  });

  it("are exported whole, page by page", async () => {
    const path = "/evm/dexb/v3/pools";
    const tables = new Map(await readTables(stack));
    const endpoint = endpointOf(path, tables.get(path) as Operation);
    const { rows } = await ask(endpoint, "limit=10000", "json", "query");
    for (const format of ["csv", "ndjson", "arrow", "parquet"] as const) {
      const out = join(folder, `pools.${format}`);
      const server = { url: stack.url, key: stack.key };
      const query = new URLSearchParams("offset=1");
      const summary = await exportTable({ server, path, query, out, format });
      expect(summary).to.include({ path, format, file: out, rows: rows.length - 1 });
      const bytes = await readFile(out);
      expect(await readBack(format, { endpoint, bytes }), format).to.deep.equal(rows.slice(1));
    }
  });

  it("are not exported where the server refuses, and leave no file", async () => {
    const out = join(folder, "refused.csv");
    const server = { url: stack.url, key: "wrong" };
    const query = new URLSearchParams();
    const failed = exportTable({ server, path: "/evm/dexb/v3/pools", query, out, format: "csv" });
    expect(await failed.catch(String)).to.contain("401");
    expect(await readFile(out).catch(() => undefined)).to.equal(undefined);
  });
}
