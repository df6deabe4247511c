import { expect } from "chai";
import { after, before, describe, it } from "mocha";
import { catalogue } from "../../catalogue.ts";
import { startTestGateway, type TestGateway } from "../../testkit/gateway.ts";
import { declareTables } from "../declared-tables.ts";

/** What the first page may weigh over the wire, all of it. */
const MAX_FIRST_PAGE = 200_000;
const BROWSER = { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

describe("explorer: what the gateway serves", () => {
  let gateway: TestGateway;
  let page: Response;
  let html: string;
  let paths: string[];
  before(async () => {
    gateway = await startTestGateway();
    page = await fetch(`${gateway.url}/`, { headers: BROWSER });
    html = await page.text();
    paths = [...html.matchAll(/(?:href|src)="(explorer\/[^"]+)"/g)].map((found) => `/${found[1]}`);
  });
  after(() => gateway.stop());

  it("is at / for browsers, and what programs get there has not changed", async () => {
    expect(page.status).to.equal(200);
    expect(page.headers.get("content-type")).to.equal("text/html; charset=utf-8");
    expect(page.headers.get("vary")).to.equal("Accept, Accept-Encoding");
    // It names files that the next version does not have.
    expect(page.headers.get("cache-control")).to.equal("no-cache");
    const known = { ...BROWSER, "If-None-Match": page.headers.get("etag") as string };
    expect((await fetch(`${gateway.url}/`, { headers: known })).status).to.equal(304);
    for (const headers of [{}, { Accept: "application/json" }, { Accept: "*/*" }] as Record<
      string,
      string
    >[]) {
      const answer = await fetch(`${gateway.url}/`, { headers });
      expect(answer.headers.get("vary")).to.equal("Accept");
      expect(await answer.json()).to.include({ docs: "/docs", openapi: "/openapi.json" });
    }
  });

  it("allows scripts and styles of this host alone, and no markup from text", () => {
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy)
      .to.match(/^default-src 'none';/)
      .and.to.contain("require-trusted-types-for 'script'");
    expect(policy).not.to.match(/unsafe|https?:|\*/);
    expect(html).not.to.match(/<style|style="|<script>|\son\w+=|https?:\/\//);
  });

  it("loads files that browsers may keep for ever, each with its type, compressed", async () => {
    expect(paths.length).to.be.above(10);
    for (const path of paths) {
      const answer = await fetch(gateway.url + path, { headers: { "Accept-Encoding": "br" } });
      expect([path, answer.status]).to.deep.equal([path, 200]);
      expect(answer.headers.get("cache-control"), path).to.equal("public, max-age=31536000, immutable");
      expect(answer.headers.get("content-type"), path).to.match(/^text\/(javascript|css); charset=utf-8$/);
      const bytes = (await answer.text()).length;
      expect(answer.headers.get("content-encoding"), path).to.equal(bytes < 1_024 ? null : "br");
    }
    const other = (paths[0] as string).replace(/explorer\/[^/]+/, "explorer/other");
    expect((await fetch(gateway.url + other)).status).to.equal(404);
  });

  it("weighs less than 200 KB with the catalogue and the charts", async () => {
    const folder = (paths[0] as string).replace(/[^/]+$/, "");
    const sizes = await Promise.all(
      ["/", "/favicon.ico", `${folder}catalogue.json`, `${folder}uplot.js`, ...paths].map(async (path) => {
        const answer = await fetch(gateway.url + path, { headers: { ...BROWSER, "Accept-Encoding": "br" } });
        return Number(answer.headers.get("content-length"));
      }),
    );
    const sum = sizes.reduce((all, size) => all + size, 0);
    expect(Math.min(...sizes)).to.be.above(0);
    expect(sum).to.be.below(MAX_FIRST_PAGE);
  });

  it("derives from the declarations: every endpoint with its columns, orders and needed parameters", async () => {
    const folder = (paths[0] as string).replace(/[^/]+$/, "");
    const answer = await fetch(`${gateway.url}${folder}catalogue.json`);
    const { tables } = (await answer.json()) as { tables: ReturnType<typeof declareTables> };
    expect(tables).to.deep.equal(declareTables(catalogue));
    expect(tables.map(({ path }) => path)).to.deep.equal(catalogue.map(({ path }) => path));
    for (const [at, { columns, sortable }] of tables.entries()) {
      expect(columns.map(({ name }) => name)).to.deep.equal(catalogue[at]?.columns.map(({ name }) => name));
      expect(columns.map(({ name }) => name)).to.include.members([...sortable]);
    }
    const holders = tables.find(({ path }) => path.endsWith("/tokens/holders"));
    const address = holders?.params.find(({ name }) => name === "token_address");
    expect(address?.required, "also where an alias could take its place").to.equal(true);
  });

  it("names the members of tuples as their descriptions do", () => {
    const tuples = declareTables(catalogue).flatMap(({ columns }) =>
      columns.filter(({ type }) => type.startsWith("Array(Tuple(")),
    );
    expect(tuples.length).to.be.above(0);
    for (const { name, members } of tuples)
      for (const member of members ?? []) expect(member, name).not.to.match(/^\d/);
    expect(tuples.find(({ name }) => name === "volumeByHour")?.members).to.deep.equal([
      "hourStartUnix",
      "volumeUsd",
      "swapCount",
    ]);
  });
});
