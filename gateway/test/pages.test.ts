import { readFile } from "node:fs/promises";
import { expect } from "chai";
import { after, before, describe, it } from "mocha";
import { describeParameters } from "../../services/shared/contract/derive/parameters.ts";
import { typeNameOf } from "../../services/shared/contract/derive/type-name.ts";
import { catalogue } from "../catalogue.ts";
import { startTestGateway, type TestGateway } from "../testkit/gateway.ts";
import { rawGet } from "../testkit/raw-http.ts";
import { until } from "../testkit/until.ts";

describe("gateway: pages", () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startTestGateway();
  });
  after(() => gateway.stop());
  const read = (path: string, init: RequestInit = {}) =>
    fetch(`${gateway.url}${path}`, { redirect: "manual", ...init });

  it("/openapi.json is the generated document with this gateway as its server, without a key", async () => {
    const answer = await read("/openapi.json");
    expect(answer.status).to.equal(200);
    expect(answer.headers.get("content-type")).to.equal("application/json");
    const { servers, ...document } = (await answer.json()) as Record<string, unknown>;
    const file = new URL("../../proto/openapi.json", import.meta.url);
    const { servers: _other, ...generated } = JSON.parse(await readFile(file, "utf8"));
    expect(document).to.deep.equal(generated);
    expect(servers).to.deep.equal([{ url: gateway.url }]);
  });

  it("/openapi-3.1.json is the same in OpenAPI 3.1, with the columns of every row", async () => {
    const answer = await read("/openapi-3.1.json");
    expect(answer.headers.get("content-type")).to.equal("application/json");
    const { components, ...document } = (await answer.json()) as {
      readonly components: { readonly schemas: Record<string, { readonly prefixItems?: unknown[] }> };
    };
    expect(document).to.deep.include({ openapi: "3.1.0", servers: [{ url: gateway.url }] });
    for (const endpoint of catalogue) {
      const row = components.schemas[`${typeNameOf(endpoint)}Row`]?.prefixItems;
      expect(row, endpoint.path).to.have.length(endpoint.columns.length);
    }
  });

  it("/openapi-objects.json describes rows by name alone, each column with its type", async () => {
    const { openapi, components, paths } = (await (await read("/openapi-objects.json")).json()) as {
      readonly openapi: string;
      readonly components: { readonly schemas: Record<string, { readonly properties: object }> };
      readonly paths: Record<string, { get: { responses: { 200: { content: object } } } }>;
    };
    expect(openapi).to.equal("3.0.0");
    for (const endpoint of catalogue) {
      const row = components.schemas[`${typeNameOf(endpoint)}Object`];
      const names = endpoint.columns.map(({ name }) => name);
      expect(Object.keys(row?.properties ?? {}), endpoint.path).to.deep.equal(names);
      const content = paths[endpoint.path]?.get.responses[200].content ?? {};
      expect(Object.keys(content), endpoint.path).to.deep.equal(["application/json; rows=objects"]);
    }
  });

  it("/openapi.json takes no part of an invalid Host", async () => {
    for (const host of ['x"y', "x/../y", "x y", "<script>", "a@b", ""]) {
      const { body, status } = await rawGet(gateway.url, "/openapi.json", { Host: host });
      if (status === 400) continue;
      expect(JSON.parse(body).servers, host).to.deep.equal([{ url: "/" }]);
    }
  });

  it("/docs shows every endpoint with its parameters, columns and units, and loads one script of this host", async () => {
    const answer = await read("/docs");
    expect(answer.status).to.equal(200);
    expect(answer.headers.get("content-type")).to.equal("text/html; charset=utf-8");
    const page = await answer.text();
    for (const endpoint of catalogue) {
      const id = endpoint.path.slice(1).replaceAll("/", "-");
      const from = page.indexOf(`<section id="${id}">`);
      const section = page.slice(from, page.indexOf("</section>", from));
      expect(from, endpoint.path).to.be.greaterThan(0);
      for (const { name } of describeParameters(endpoint)) expect(section).to.contain(`<code>${name}</code>`);
      for (const { name, type, unit } of endpoint.columns) {
        expect(section).to.contain(`<code>${name}</code>`);
        expect(section).to.contain(`<td>${type}</td><td>${unit ?? ""}</td>`);
      }
      expect(section).to.contain(`${gateway.url}${endpoint.path}`);
    }
    const [script = "", ...others] = [...page.matchAll(/<script[^>]*>/g)].map(([tag]) => tag);
    expect(others).to.deep.equal([]);
    const path = /^<script type="module" src="(explorer\/[\w-]+\/docs\.js)">$/.exec(script)?.[1];
    expect((await read(`/${path}`)).headers.get("content-type")).to.contain("text/javascript");
    const rest = page
      .replace(`${script}</script>`, "")
      .replace(/<link rel="icon" href="data:image\/svg\+xml,[^"]+">/, "");
    expect(rest.length, "an icon that is part of the page").to.be.lessThan(page.length);
    expect(rest).not.to.match(/<script|src=|<link|@import|url\(/i);
    expect(rest.match(/href="[^#/]/g)).to.equal(null);
    const policy = answer.headers.get("content-security-policy") ?? "";
    expect(policy).to.contain("img-src data:").and.to.contain("require-trusted-types-for 'script'");
    expect(policy).not.to.match(/unsafe|https?:|\*/);
  });

  it("/docs describes where a key comes from, and marks examples as mainnet's while no service has returned its own", async () => {
    const page = await (await read("/docs")).text();
    expect(page).to.contain("npm run keys -- create").and.to.contain("prints a demo key");
    const examples = catalogue.filter(({ params }) =>
      Object.values(params).some((schema) => !schema.safeParse(undefined).success),
    );
    expect(page.match(/An example of (Base|Solana) mainnet:/g)).to.have.length(examples.length);
    // A parameter with another name is still required.
    expect(page).to.contain("/api/v1/solana/tokens/holders?token_address=So1");
  });

  it("nothing of a service's internal paths can be reached", async () => {
    for (const path of ["/internal/examples", "/internal/", "/metrics/../internal/examples"])
      expect((await gateway.get(path)).status, path).to.be.oneOf([400, 404]);
  });

  it("/docs/ leads to /docs", async () => {
    const answer = await read("/docs/");
    expect([answer.status, answer.headers.get("location")]).to.deep.equal([308, "/docs"]);
  });

  it("/openapi.json has the gateway's own pages, which respond as documented", async () => {
    const { paths } = (await (await read("/openapi.json")).json()) as {
      paths: Record<string, { get: { security?: unknown[]; responses: Record<string, unknown> } }>;
    };
    for (const path of ["/usage", "/readyz", "/livez"]) {
      const operation = paths[path]?.get;
      expect(operation?.responses, path).to.have.property(String((await gateway.get(path)).status));
      expect((await read(path)).status, path).to.equal(operation?.security?.length === 0 ? 200 : 401);
    }
  });

  for (const path of ["/docs", "/openapi.json"]) {
    it(`${path} is served from memory: tagged, compressed where that is taken, 304 where it is known`, async () => {
      const plain = await read(path, { headers: { "Accept-Encoding": "identity" } });
      const text = await plain.text();
      expect(plain.headers.get("content-encoding")).to.equal(null);
      expect(plain.headers.get("cache-control")).to.equal("private, max-age=60");
      const etag = plain.headers.get("etag") as string;
      expect(etag).to.match(/^W\/"[\w-]{22}"$/);
      for (const encoding of ["br", "gzip"]) {
        const coded = await read(path, { headers: { "Accept-Encoding": encoding } });
        expect(coded.headers.get("content-encoding")).to.equal(encoding);
        expect(coded.headers.get("vary")).to.equal("Accept-Encoding");
        expect(coded.headers.get("etag")).to.equal(etag);
        expect(Number(coded.headers.get("content-length"))).to.be.below(text.length / 4);
        expect(await coded.text()).to.equal(text);
      }
      const known = await read(path, { headers: { "If-None-Match": `"other", ${etag}` } });
      expect([known.status, await known.text()]).to.deep.equal([304, ""]);
      expect(known.headers.get("etag")).to.equal(etag);
      const head = await read(path, { method: "HEAD", headers: { "Accept-Encoding": "identity" } });
      expect(head.headers.get("content-length")).to.equal(plain.headers.get("content-length"));
      const elsewhere = await rawGet(gateway.url, path, { Host: "localhost:1" });
      expect(elsewhere.headers.etag).not.to.equal(etag);
      expect(elsewhere.body).to.contain("http://localhost:1").and.not.to.contain(gateway.url);
    });
  }

  it("/docs has a style sheet that its own policy allows", async () => {
    const answer = await read("/docs");
    const style = /<style>([\s\S]*)<\/style>/.exec(await answer.text())?.[1] ?? "";
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(style));
    const hash = Buffer.from(digest).toString("base64");
    expect(answer.headers.get("content-security-policy")).to.contain(`style-src 'sha256-${hash}'`);
  });

  it("/livez reports that the process answers, /metrics what it has done, by template", async () => {
    expect(await (await read("/livez")).json()).to.deep.equal({ status: "ok" });
    await gateway.get("/evm/chains?a=1");
    await gateway.get("/made-up-path");
    await until(() => gateway.lines.some((line) => line.route === "unmatched"));
    const text = await gateway.metrics();
    expect((await read("/metrics")).status).to.equal(404);
    expect(text).to.match(
      /http_request_duration_seconds_count\{[^}]*route="\/evm\/chains"[^}]*status="200"[^}]*\} 1\b/,
    );
    expect(text).to.match(/gateway_upstream_serving\{upstream="evm-dex#0"[^}]*\} 1/);
    expect(text).to.match(/gateway_upstream_in_flight\{upstream="evm-dex#0"[^}]*\} 0/);
    expect(text).not.to.contain("made-up");
  });

  it("/readyz is 200 while every service serves, and names the one that does not", async () => {
    // A probe may be late on a busy machine; the next one is not.
    await until(async () => (await read("/readyz")).status === 200);
    await gateway.lending.stop();
    await until(async () => (await read("/readyz")).status === 503);
    const answer = await read("/readyz");
    const text = await answer.text();
    expect(text).not.to.contain("127.0.0.1");
    const { status, services } = JSON.parse(text);
    expect(status).to.equal("not_ready");
    expect(services.lending).to.deep.equal({ ready: false, serving: 0, replicas: ["unreachable"] });
    expect(services.solana.ready).to.equal(true);
    await gateway.lending.restart();
    await until(async () => (await read("/readyz")).status === 200);
  });
});
