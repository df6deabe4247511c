import { fileURLToPath } from "node:url";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { expect } from "chai";
import { after, before, it } from "mocha";
import type { Cell } from "../../services/shared/contract/column.ts";
import type { Endpoint } from "../../services/shared/contract/endpoint.ts";
import { describeWithProcesses } from "../../services/shared/testkit/describe.ts";
import { programCommand, runProgram } from "../../services/shared/testkit/process.ts";
import { catalogue } from "../catalogue.ts";
import { toolNameOf } from "../mcp/tools/endpoint-tool.ts";
import { BOOTSTRAP_KEY, startTestGateway, type TestGateway } from "../testkit/gateway.ts";
import {
  answerDeclared,
  BLOCK,
  connectMcp,
  connectOverHttp,
  exampleArguments,
  type McpClient,
} from "../testkit/mcp.ts";

const PROGRAM = new URL("../cli/mcp.ts", import.meta.url);
/** As many as the tool shows by default. */
const DEFAULT_ROWS = "20";

describeWithProcesses("gateway: a tool of every endpoint", () => {
  let gateway: TestGateway;
  let clients: Record<"HTTP" | "stdio", McpClient>;

  before(async () => {
    gateway = await startTestGateway();
    answerDeclared([gateway.evmDex, gateway.lending, gateway.solana], catalogue);
    const [command = "", ...args] = programCommand(PROGRAM);
    const { PATH = "", HOME = "" } = process.env;
    const env = { PATH, HOME, CHAINTABLES_URL: `${gateway.url}/`, CHAINTABLES_API_KEY: BOOTSTRAP_KEY };
    const stdio = new StdioClientTransport({
      command,
      args,
      env,
      cwd: fileURLToPath(new URL("../../", PROGRAM)),
    });
    clients = {
      HTTP: await connectOverHttp(gateway.url),
      stdio: await connectMcp(stdio as Transport),
    };
  });
  after(async () => {
    await Promise.all(Object.values(clients ?? {}).map((client) => client.close()));
    await gateway?.stop();
  });

  /** The rows of the HTTP answer, cut where the tool asks for fewer. */
  async function rowsOverHttp(endpoint: Endpoint, args: Record<string, string>): Promise<Cell[][]> {
    const isPaged = endpoint.params.limit !== undefined;
    const query = new URLSearchParams({ ...args, ...(isPaged ? { limit: DEFAULT_ROWS } : {}) });
    const body = await (await gateway.get(`${endpoint.path}?${query}`)).json();
    return (Array.isArray(body) ? body[0] : body).data;
  }

  for (const over of ["HTTP", "stdio"] as const) {
    it(`has over ${over} the cells of the HTTP answer, and its block`, async () => {
      for (const endpoint of catalogue) {
        const args = exampleArguments(endpoint);
        const expected = await rowsOverHttp(endpoint, args);
        expect(expected, endpoint.path).not.to.deep.equal([]);
        const { text, isError } = await clients[over].call(toolNameOf(endpoint), args);
        expect(isError, `${endpoint.path}: ${text}`).to.equal(false);
        const answer = JSON.parse(text);
        const columns = endpoint.columns.map(({ name }) => name);
        const rows = answer.row === undefined ? answer.rows : [columns.map((name) => answer.row[name])];
        expect(rows, endpoint.path).to.deep.equal(expected);
        if (answer.row === undefined) expect(answer.columns).to.deep.equal(columns);
        expect(answer).to.include({ block: BLOCK });
      }
    });
  }

  it("says which arguments it takes by JSON Schema, and which columns it has with their units", async () => {
    const { tools } = await clients.stdio.client.listTools();
    for (const endpoint of catalogue) {
      const tool = tools.find(({ name }) => name === toolNameOf(endpoint));
      const properties = Object.keys(tool?.inputSchema.properties ?? {});
      expect(properties, endpoint.path).to.include.members(Object.keys(endpoint.params));
      for (const { name, unit } of endpoint.columns)
        expect(tool?.description, endpoint.path).to.include(unit === undefined ? name : `${name} (${unit})`);
    }
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).to.equal(true);
    expect(tools.every(({ name }) => /^[a-z0-9_]{1,64}$/.test(name))).to.equal(true);
  });

  it("tells in one sentence what npm run mcp misses", async () => {
    const [noKey, wrongUrl, help] = await Promise.all([
      runProgram(PROGRAM),
      runProgram(PROGRAM, { env: { CHAINTABLES_API_KEY: "k", CHAINTABLES_URL: "here" } }),
      runProgram(PROGRAM, { args: ["--help"] }),
    ]);
    expect(noKey).to.include({ code: 2, stdout: "" });
    expect(noKey.stderr).to.include("CHAINTABLES_API_KEY is not set");
    expect(wrongUrl).to.include({ code: 2, stdout: "" });
    expect(wrongUrl.stderr).to.include("Cannot read CHAINTABLES_URL");
    expect(help).to.include({ code: 0 });
  });

  it("tells that the gateway cannot be reached, and answers again when it can", async () => {
    const { url } = gateway;
    await gateway.stop();
    const lost = await clients.stdio.call("evm_chains");
    expect(lost.isError).to.equal(true);
    expect(lost.text).to.match(/^No answer from http:.*\(unreachable\)$/);
    gateway = await startTestGateway({ config: { port: Number(new URL(url).port) } });
    answerDeclared([gateway.evmDex], catalogue);
    expect(await clients.stdio.call("evm_chains")).to.have.property("isError", false);
  });
});
