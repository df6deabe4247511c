import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { after, before, describe, it } from "mocha";
import { type Page, readPages, type Server } from "./read-table.ts";

const ROWS = Array.from({ length: 25 }, (_, at) => [at]);

describe("export: pages of a table", () => {
  const seen: string[] = [];
  const http = createServer((req, res) => {
    seen.push(req.url ?? "");
    const query = new URL(req.url ?? "", "http://x").searchParams;
    const from = Number(query.get("offset") ?? 0);
    const data = ROWS.slice(from, from + Number(query.get("limit") ?? ROWS.length));
    res.setHeader("X-Data-Block", "7");
    res.end(JSON.stringify([{ columns: [], data, rows: data.length }]));
  });
  let server: Server;
  before(async () => {
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    server = { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, key: "k" };
  });
  after(() => http.close().closeAllConnections());

  const read = async (query: string, maxLimit: number | undefined) => {
    seen.length = 0;
    const pages: Page[] = [];
    const table = { path: "/t", columns: [], maxLimit };
    for await (const page of readPages(server, { table, query: new URLSearchParams(query) }))
      pages.push(page);
    return pages.flatMap(({ rows }) => rows.map(([cell]) => cell));
  };

  it("are requested until one is not full", async () => {
    expect(await read("a=1", 10)).to.deep.equal(ROWS.flat());
    expect(seen).to.deep.equal([
      "/t?a=1&limit=10&offset=0",
      "/t?a=1&limit=10&offset=10",
      "/t?a=1&limit=10&offset=20",
    ]);
    expect(await read("", 25)).to.deep.equal(ROWS.flat());
  });

  it("begin at the query's offset and end at its limit", async () => {
    expect(await read("offset=3&limit=12", 10)).to.deep.equal(ROWS.flat().slice(3, 15));
    expect(seen).to.have.length(2);
  });

  it("are one request for a table that is not paged", async () => {
    expect(await read("b=2", undefined)).to.deep.equal(ROWS.flat());
    expect(seen).to.deep.equal(["/t?b=2"]);
  });
});
