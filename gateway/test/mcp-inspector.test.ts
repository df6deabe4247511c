import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { describeThorough } from "../../services/shared/testkit/describe.ts";
import { programCommand, runProgram } from "../../services/shared/testkit/process.ts";
import { catalogue } from "../catalogue.ts";
import { toolNameOf } from "../mcp/tools/endpoint-tool.ts";
import { BOOTSTRAP_KEY, startTestGateway, type TestGateway } from "../testkit/gateway.ts";
import { answerDeclared, BLOCK, exampleArguments } from "../testkit/mcp.ts";

/** Where the full check installs it (deploy/check/packages/inspector.ts). */
const INSPECTOR = new URL("../../.cache/mcp-inspector/node_modules/.bin/mcp-inspector-cli", import.meta.url);
const PROGRAM = new URL("../cli/mcp.ts", import.meta.url);
const COMPOSITES = [
  "pool_report",
  "token_report",
  "wallet_liquidity",
  "best_yields",
  "explain_column",
] as const;

describeThorough("gateway: MCP by the protocol's own inspector", () => {
  if (!existsSync(INSPECTOR)) {
    it("pending: the inspector is not installed: npm run check:full does", function () {
      this.skip();
    });
    return;
  }
  let gateway: TestGateway;
  before(async () => {
    gateway = await startTestGateway();
    answerDeclared([gateway.evmDex, gateway.lending, gateway.solana], catalogue);
  });
  after(() => gateway?.stop());

  const targets = {
    HTTP: () => [`${gateway.url}/mcp`, "--transport", "http", "--header", `X-API-Key: ${BOOTSTRAP_KEY}`],
    stdio: () => {
      const env = [`CHAINTABLES_URL=${gateway.url}/`, `CHAINTABLES_API_KEY=${BOOTSTRAP_KEY}`];
      return [...env.flatMap((each) => ["-e", each]), ...programCommand(PROGRAM)];
    },
  };
  for (const [over, targetOf] of Object.entries(targets)) {
    /** What the inspector prints of a request. */
    async function inspect(...request: readonly string[]) {
      const args = ["--cli", ...targetOf(), "--method", ...request];
      const { code, stdout, stderr } = await runProgram(fileURLToPath(INSPECTOR), { args });
      expect(code, stderr).to.equal(0);
      return JSON.parse(stdout);
    }

    it(`lists over ${over} a tool of every endpoint, and the composites`, async () => {
      const { tools } = await inspect("tools/list");
      const names = (tools as { name: string }[]).map(({ name }) => name);
      expect(names).to.have.members([...COMPOSITES, ...catalogue.map(toolNameOf)]);
    });

    it(`calls over ${over} a tool that answers with its block, and one that refuses in words`, async () => {
      const pool = catalogue.find(({ path }) => path === "/evm/dexb/v3/pool");
      if (pool === undefined) return expect.fail("there is no such endpoint");
      const args = Object.entries(exampleArguments(pool)).map(([name, value]) => `${name}=${value}`);
      const call = ["tools/call", "--tool-name", toolNameOf(pool)];
      const answer = await inspect(...call, "--tool-arg", ...args);
      expect(answer.isError ?? false).to.equal(false);
      expect(JSON.parse(answer.content[0].text)).to.include({ block: BLOCK });
      const refused = await inspect(...call, "--tool-arg", ...args, "columns=nosuch");
      expect(refused.isError, JSON.stringify(refused)).to.equal(true);
      expect(refused.content[0].text).to.contain("nosuch");
    });
  }
});
