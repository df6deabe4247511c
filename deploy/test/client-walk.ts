import { expect } from "chai";
import { it } from "mocha";
import { Client, type PagedPath } from "../../clients/typescript/src/index.ts";
import { readTables } from "./read-tables.ts";
import type { Stack } from "./stack.ts";

const LIMIT = 5;

/** Tests of a suite with a running stack: the published client has the rows of the HTTP answer, of every endpoint of OpenAPI. */
export function testClients(running: () => Stack): void {
  it("have the same rows as objects of the TypeScript client, page by page", async () => {
    const { url, key } = running();
    const client = new Client({ url, apiKey: key });
    for (const [path, { parameters = [] }] of await readTables(running())) {
      const examples = parameters.flatMap(({ name, example }): [string, unknown][] =>
        example === undefined || name === "format" ? [] : [[name, example]],
      );
      const isPaged = parameters.some(({ name }) => name === "limit");
      const params = { ...Object.fromEntries(examples), ...(isPaged ? { limit: LIMIT, offset: 0 } : {}) };
      const query = new URLSearchParams(
        Object.entries(params).map(([name, value]): [string, string] => [name, String(value)]),
      );
      const answer = await fetch(`${url}${path}?${query}`, { headers: { "X-API-KEY": key } });
      const body = await answer.json();
      const { columns, data } = Array.isArray(body) ? body[0] : body;
      expect(data, path).not.to.deep.equal([]);
      const table = await client.get(path as "/evm/chains", params as never);
      const rows = table.rows as readonly object[] as readonly Readonly<Record<string, unknown>>[];
      const cells = rows.map((row) => columns.map(({ name }: { name: string }) => row[name]));
      expect(cells, path).to.deep.equal(data);
      expect(String(table.block), path).to.equal(answer.headers.get("x-data-block") ?? "undefined");
      if (!isPaged) continue;
      const walked: unknown[] = [];
      for await (const row of client.rows(path as PagedPath, ...([params] as unknown as []))) {
        walked.push(row);
        if (walked.length === data.length) break;
      }
      expect(walked, path).to.deep.equal(rows);
    }
  });
}
