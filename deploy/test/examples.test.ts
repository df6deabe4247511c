import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { after, before, describe, it } from "mocha";
import { describeThorough } from "../../services/shared/testkit/describe.ts";
import { testClients } from "./client-walk.ts";
import { testFormats } from "./format-walk.ts";
import { testMcp } from "./mcp-walk.ts";
import { type Stack, startStack } from "./stack.ts";

const TOKEN = "service-token-of-the-whole-stack-0123456789";

interface Parameter {
  readonly name: string;
  readonly example?: unknown;
  readonly required: boolean;
  readonly schema: Record<string, unknown>;
}
interface Operation {
  readonly tags: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly "x-examples-of"?: string;
}

/** The local chains: none of their contracts has an address of mainnet's. Services demand their token on the way. */
describeThorough("examples of the documents, on the instance that shows them", () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({ SERVICE_TOKEN: TOKEN });
  });
  after(() => stack?.stop());

  const request = (path: string) => fetch(`${stack.url}${path}`, { headers: { "X-API-KEY": stack.key } });
  const readOperations = async (): Promise<[path: string, Operation][]> => {
    const { paths } = (await (await request("/openapi.json")).json()) as {
      paths: Record<string, { get: Operation }>;
    };
    return Object.entries(paths).map(([path, { get }]) => [path, get]);
  };
  /** Tables alone: the gateway's own operations have no examples. */
  const readTables = async () => (await readOperations()).filter(([, { tags }]) => !tags.includes("gateway"));

  const expectRows = async (path: string) => {
    const answer = await request(path);
    const text = await answer.text();
    expect(answer.status, `${path}: ${text.slice(0, 300)}`).to.equal(200);
    const parsed = JSON.parse(text);
    const { rows } = Array.isArray(parsed) ? parsed[0] : parsed;
    expect(rows, path).to.be.greaterThan(0);
  };

  it("come from its own data for every endpoint", async () => {
    const isLive = ([, operation]: [string, Operation]) => operation["x-examples-of"] === "this instance";
    const deadlineMs = performance.now() + 60_000;
    while (!(await readTables()).every(isLive) && performance.now() < deadlineMs) await sleep(250);
    const tables = await readTables();
    expect(tables).to.have.length(37);
    expect(tables.filter((each) => !isLive(each)).map(([path]) => path)).to.deep.equal([]);
  });

  it("return rows, all parameters of OpenAPI together, as a client sends them that fills in every example", async () => {
    for (const [path, { parameters = [] }] of await readTables()) {
      const pairs = parameters
        .filter(({ example }) => example !== undefined)
        .map(({ name, example }) => `${name}=${encodeURIComponent(String(example))}`);
      await expectRows(`${path}?${pairs.join("&")}`);
    }
  });

  it("return rows, the defaults of OpenAPI filled in for what is not required", async () => {
    for (const [path, { parameters = [] }] of await readTables()) {
      const aliased = parameters.filter(
        ({ name, example }) => name.endsWith("_address") && example !== undefined,
      );
      const pairs = parameters.flatMap((parameter) => {
        const { name, example, required, schema } = parameter;
        const isNeeded =
          required || (path.endsWith("/holders") && aliased.includes(parameter)) || name === "chain_id";
        const value = isNeeded ? example : schema.default;
        return value === undefined ? [] : [`${name}=${encodeURIComponent(String(value))}`];
      });
      await expectRows(`${path}?${pairs.join("&")}`);
    }
  });

  it("return rows for every line of /docs", async () => {
    const page = (await (await request("/docs")).text()).replaceAll("&amp;", "&").replaceAll("&quot;", '"');
    expect(page).not.to.contain("mainnet: this instance has found none");
    const urls = [...page.matchAll(/curl -H "X-API-KEY: \$KEY" "([^"]+)"/g)].map(([, url]) => url ?? "");
    const tables = urls.filter((url) => !url.endsWith("/usage"));
    expect(tables).to.have.length(38);
    for (const url of tables) {
      expect(url.startsWith(stack.url), url).to.equal(true);
      await expectRows(url.slice(stack.url.length));
    }
    expect((await request("/usage")).status).to.equal(200);
  });

  describe("and tables", () => testFormats(() => stack));
  describe("and tools", () => testMcp(() => stack));
  describe("and clients", () => testClients(() => stack));

  it("contain nothing of the services' token, which every service demanded", async () => {
    const pages = await Promise.all(
      ["/docs", "/openapi.json", "/readyz"].map(async (path) => (await request(path)).text()),
    );
    expect(pages.join()).not.to.contain(TOKEN);
    for (const { lines } of Object.values(stack.processes))
      expect(lines.join("\n")).not.to.contain(TOKEN).and.not.to.contain("refuses");
    const addresses = Object.values(stack.processes).flatMap(({ lines }) =>
      lines.flatMap((line) => /"httpUrl":"([^"]+)"/.exec(line)?.[1] ?? []),
    );
    expect(addresses).to.have.length(3);
    for (const url of addresses) expect((await fetch(`${url}/metrics`)).status, url).to.equal(401);
  });
});
